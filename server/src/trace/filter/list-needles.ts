/**
 * Texts whose occurrence in a stored list (run-rows/pairs.ts) decides a test of equality. The compiler searches for
 * them in ClickHouse, and the pre-filter of rules in rows that are being written (rule-candidates/known-run.ts).
 */
import { encodeMetadata, ENTRY, pairText, THREAD_KEYS, VALUE, wholeText } from "../run-rows/pairs.ts";
import type { Test } from "./expression.ts";
import type { PartName } from "./fields.ts";

export interface PairTest {
  part: PartName;
  test: Test;
}

/**
 * Returns the texts of which a list contains some if and only if some pair passes all tests; undefined where the pairs
 * must be compared one by one.
 * @param hasThreads whether the list is the metadata, where threads are stored as a whole
 */
export function pairNeedles(tests: readonly PairTest[], hasThreads: boolean): string[] | undefined {
  const keys = tests.filter((test) => test.part === "key").map((test) => test.test);
  const values = tests.filter((test) => test.part !== "key").map((test) => test.test);
  const key = keys.length === 1 ? exactText(keys[0]!) : undefined;
  if (key !== undefined && values.length === 0) return [`${ENTRY}${key}${VALUE}`];
  const value = values.length === 1 ? exactValue(values[0]!) : undefined;
  if (value === undefined || (key === undefined && keys.length > 0)) return undefined;
  const start = key === undefined ? VALUE : `${ENTRY}${key}${VALUE}`;
  return [...new Set(storedVariants(keys, hasThreads).map((form) => start + form(value) + ENTRY))];
}

/** Returns the text that a list of tags contains if and only if some tag passes; undefined for other tests. */
export function tagNeedle(test: Test): string | undefined {
  const tag = exactText(test);
  return tag === undefined ? undefined : `${ENTRY}${tag}${ENTRY}`;
}

/**
 * Returns for each entry the text that the metadata must contain, or must not contain. A null value means that the key
 * is absent: absent and null are stored in the same way.
 */
export const entryNeedles = (entries: readonly { key: string; value: unknown }[]): { text: string; isIn: boolean }[] =>
  entries.map(({ key, value }) =>
    value === null
      ? { text: `${ENTRY}${pairText(key)}${VALUE}`, isIn: false }
      : { text: encodeMetadata({ [key]: value }), isIn: true },
  );

/**
 * Returns the forms in which a value of these keys may be stored: a thread as a whole, others truncated; both where the
 * key is not known.
 */
export function storedVariants(keys: readonly Test[], hasThreads: boolean): ((text: string) => string)[] {
  if (!hasThreads) return [pairText];
  const [key] = keys;
  const names = key?.op === "eq" ? [key.value] : key?.op === "in" ? key.values : undefined;
  if (!names || names.length === 0) return [pairText, wholeText];
  const threads = names.filter((name) => THREAD_KEYS.includes(String(name)));
  if (threads.length === names.length) return [wholeText];
  return threads.length === 0 ? [pairText] : [pairText, wholeText];
}

/**
 * Returns the text of an equality test, else undefined. A number has several spellings, so it is not matched as text.
 */
const exactValue = (test: Test): string | undefined =>
  test.op === "eq" && typeof test.value !== "number" ? String(test.value) : undefined;

export const exactText = (test: Test): string | undefined => {
  const text = exactValue(test);
  return text === undefined ? undefined : pairText(text);
};
