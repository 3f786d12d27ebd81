import { all, any, bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { encodeMetadata, ENTRY, pairText, THREAD_KEYS, VALUE, wholeText } from "../run-rows/pairs.ts";
import { compileTest } from "./compile-test.ts";
import type { Literal, Test } from "./expression.ts";
import type { PartName } from "./fields.ts";

/**
 * Conditions on the lists that a run's row stores as text (run-rows/pairs.ts). Equality is a substring search for the
 * entry's text. Other tests split the list, with a known key only after a check that the key occurs.
 */

/**
 * Compiles the condition that some entry of a list of pairs passes all tests.
 * @param hasThreads whether the list is the metadata, where threads are stored as a whole
 */
export function somePair(list: Fragment, tests: { part: PartName; test: Test }[], hasThreads: boolean): Fragment {
  const text = ch`ifNull(${list}, '')`;
  const keys = tests.filter((test) => test.part === "key").map((test) => test.test);
  const values = tests.filter((test) => test.part !== "key").map((test) => test.test);
  const key = keys.length === 1 ? exactText(keys[0]!) : undefined;
  const variants = hasThreads ? storedVariants(keys) : [pairText];
  const value = values.length === 1 ? exactValue(values[0]!) : undefined;
  if (key !== undefined && values.length === 0) return holds(text, `${ENTRY}${key}${VALUE}`);
  if (value !== undefined && (key !== undefined || keys.length === 0)) {
    const start = key === undefined ? VALUE : `${ENTRY}${key}${VALUE}`;
    const needles = new Set(variants.map((form) => start + form(value) + ENTRY));
    return any(Array.from(needles, (needle) => holds(text, needle)));
  }

  const entryKey = raw("substring(entry, 1, position(entry, char(31)) - 1)");
  const entryValue = raw("substring(entry, position(entry, char(31)) + 1)");
  const passes = [
    ...keys.map((test) => compileTest({ sql: entryKey, type: "text", nullable: false }, shortened(test))),
    ...values.map((test) =>
      (test.op === "neq" ? all : any)(
        variants.map((form) =>
          compileTest({ sql: entryValue, type: "text", nullable: false }, withOperands(test, form)),
        ),
      ),
    ),
  ];
  const exists = someEntry(text, all(passes));
  return key === undefined ? exists : all([holds(text, `${ENTRY}${key}${VALUE}`), exists]);
}

/** Compiles the condition that some tag passes the test. */
export function someTag(list: Fragment, test: Test): Fragment {
  const text = ch`ifNull(${list}, '')`;
  const tag = exactText(test);
  if (tag !== undefined) return holds(text, `${ENTRY}${tag}${ENTRY}`);
  return someEntry(text, compileTest({ sql: raw("entry"), type: "text", nullable: false }, shortened(test)));
}

/**
 * Compiles the condition that the list has each of these keys with this value. A null value means that the key is
 * absent: absent and null are stored in the same way.
 */
export function containsEntries(list: Fragment, entries: { key: string; value: unknown }[]): Fragment {
  const text = ch`ifNull(${list}, '')`;
  return all(
    entries.map(({ key, value }) =>
      value === null
        ? ch`not (${holds(text, `${ENTRY}${pairText(key)}${VALUE}`)})`
        : holds(text, encodeMetadata({ [key]: value })),
    ),
  );
}

const holds = (text: Fragment, needle: string): Fragment => ch`position(${text}, ${bind("String", needle)}) > 0`;

/** The text begins and ends with a separator, so the first and the last part are not entries. */
const someEntry = (text: Fragment, condition: Fragment): Fragment =>
  ch`arrayExists(entry -> ${condition}, arraySlice(splitByChar(char(30), ${text}), 2, -1))`;

/**
 * Returns the forms in which a value of these keys may be stored: a thread as a whole, others truncated; both where the
 * key is not known.
 */
function storedVariants(keys: readonly Test[]): ((text: string) => string)[] {
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

const exactText = (test: Test): string | undefined => {
  const text = exactValue(test);
  return text === undefined ? undefined : pairText(text);
};

/** Truncates the operands as stored keys and tags are truncated. */
const shortened = (test: Test): Test => withOperands(test, pairText);

function withOperands(test: Test, form: (text: string) => string): Test {
  const change = (value: Literal): Literal => (typeof value === "string" ? form(value) : value);
  if (test.op === "in") return { op: "in", values: test.values.map(change) };
  return "value" in test ? { op: test.op, value: change(test.value) } : test;
}
