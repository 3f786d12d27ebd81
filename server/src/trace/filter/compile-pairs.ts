import { all, bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { encodeMetadata, ENTRY, pairText, VALUE } from "../run-rows/pairs.ts";
import { compileTest } from "./compile-test.ts";
import type { Literal, Test } from "./expression.ts";
import type { PartName } from "./fields.ts";

/**
 * Conditions on the lists that a run's row stores as text (run-rows/pairs.ts). Equality is a substring search for the
 * entry's text. Other tests split the list, with a known key only after a check that the key occurs.
 */

/** Compiles the condition that some entry of a list of pairs passes all tests. */
export function somePair(list: Fragment, tests: { part: PartName; test: Test }[]): Fragment {
  const text = ch`ifNull(${list}, '')`;
  const keys = tests.filter((test) => test.part === "key").map((test) => test.test);
  const values = tests.filter((test) => test.part !== "key").map((test) => test.test);
  const key = keys.length === 1 ? exactText(keys[0]!) : undefined;
  const value = values.length === 1 ? exactText(values[0]!) : undefined;
  if (key !== undefined && values.length === 0) return holds(text, `${ENTRY}${key}${VALUE}`);
  if (key !== undefined && value !== undefined) return holds(text, `${ENTRY}${key}${VALUE}${value}${ENTRY}`);
  if (value !== undefined && keys.length === 0) return holds(text, `${VALUE}${value}${ENTRY}`);

  const entryKey = raw("substring(entry, 1, position(entry, char(31)) - 1)");
  const entryValue = raw("substring(entry, position(entry, char(31)) + 1)");
  const passes = [
    ...keys.map((test) => compileTest({ sql: entryKey, type: "text", nullable: false }, shortened(test))),
    ...values.map((test) => compileTest({ sql: entryValue, type: "text", nullable: false }, shortened(test))),
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
 * Returns the text of an equality test, else undefined. A number has several spellings, so it is not matched as text.
 */
const exactText = (test: Test): string | undefined =>
  test.op === "eq" && typeof test.value !== "number" ? pairText(String(test.value)) : undefined;

/** Truncates the operands as stored values are truncated. */
function shortened(test: Test): Test {
  const cut = (value: Literal): Literal => (typeof value === "string" ? pairText(value) : value);
  if (test.op === "in") return { op: "in", values: test.values.map(cut) };
  return "value" in test ? { op: test.op, value: cut(test.value) } : test;
}
