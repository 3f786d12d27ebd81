/**
 * Source text of the values of JSON objects: `{"a": 1.0}` gives `a → "1.0"`. Fields stored unparsed are sliced rather
 * than serialized again, so that numbers beyond a double's precision, and the difference between 1 and 1.0, survive.
 * The text must be valid JSON: it was parsed before.
 */

import { skipString, skipValue } from "../../../../host-kit/src/json-scan.ts";

/**
 * Returns where the values of an object are. @param wanted the names that matter; default: all. The others are not kept,
 * however many there are.
 */
export function rawFields(text: string, wanted?: ReadonlySet<string>): Map<string, Span> {
  const fields = new Map<string, Span>();
  walkFields(text, 0, (key, start) => {
    const end = skipValue(text, start);
    if (!wanted || wanted.has(key)) fields.set(key, { start, end });
    return end;
  });
  return fields;
}

export interface WantedLists {
  lists: ReadonlySet<string>;
  fields: ReadonlySet<string>;
  /** Most elements of a list. */
  most: number;
}

/**
 * Returns where the values of the objects in the lists of an object are, by the name of the list. Of a name that occurs
 * twice the last one counts, as with JSON.parse. Each character is visited once: a batch is large.
 */
export function rawListFields(text: string, wanted?: WantedLists): Map<string, Map<string, Span>[]> {
  const lists = new Map<string, Map<string, Span>[]>();
  walkFields(text, 0, (key, start) => {
    lists.delete(key);
    if (text[start] !== "[" || (wanted && !wanted.lists.has(key))) return skipValue(text, start);
    const elements: Map<string, Span>[] = [];
    lists.set(key, elements);
    let at = skipSpace(text, start + 1);
    while (text[at] !== "]") {
      const fields = new Map<string, Span>();
      // of a name that occurs twice, the first list may be longer than what was checked
      if (!wanted || elements.length < wanted.most) elements.push(fields);
      if (text[at] === "{") {
        at = walkFields(text, at, (field, begin) => {
          const end = skipValue(text, begin);
          if (!wanted || wanted.fields.has(field)) fields.set(field, { start: begin, end });
          return end;
        });
      } else at = skipValue(text, at);
      at = skipSpace(text, at);
      if (text[at] === ",") at = skipSpace(text, at + 1);
    }
    return at + 1;
  });
  return lists;
}

/**
 * Calls `skip` with the name and the start of each value of the object at `from`; it returns the value's end.
 * @returns the end of the object
 */
function walkFields(text: string, from: number, skip: (key: string, start: number) => number): number {
  let at = skipSpace(text, skipSpace(text, from) + 1);
  while (text[at] !== "}") {
    const keyEnd = skipString(text, at);
    const written = text.slice(at + 1, keyEnd - 1);
    const key = written.includes("\\") ? (JSON.parse(`"${written}"`) as string) : written;
    at = skipSpace(text, skip(key, skipSpace(text, skipSpace(text, keyEnd) + 1)));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return at + 1;
}

export interface Span {
  start: number;
  end: number;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 32) at++;
  return at;
}
