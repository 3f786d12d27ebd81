import _ from "lodash";

export = { words: (text: string): number => _.words(text).length };
