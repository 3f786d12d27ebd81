import { z } from "zod";

import { storableText } from "../../base/http/fields.ts";

const PATH = /^(values|metadata|config|interrupts)((?:\.[^.[\]]+|\[-?\d{1,9}\])*)$/;
const SEGMENT = /\.([^.[\]]+)|\[(-?\d+)\]/g;

/**
 * One alias of `extract`: a column and a path below it, in the form of Postgres' `#>` (-1 is the last element of a
 * list).
 */
export interface Extract {
  alias: string;
  column: string;
  path: string[];
}

/** `{"last": "values.messages[-1].content"}`: parts of a thread under aliases chosen by the caller. */
export const extractPaths = z
  .record(
    storableText,
    storableText
      .max(1000, { abort: true })
      .regex(PATH, "must start with values, metadata, config or interrupts, like values.messages[-1].content"),
  )
  .refine((paths) => Object.keys(paths).length <= 10, "must not contain more than 10 paths")
  .transform((paths): Extract[] => Object.entries(paths).map(([alias, path]) => ({ alias, ...parsePath(path) })));

function parsePath(text: string): { column: string; path: string[] } {
  const [, column, rest] = PATH.exec(text)!;
  return { column: column!, path: [...rest!.matchAll(SEGMENT)].map((match) => match[1] ?? match[2]!) };
}
