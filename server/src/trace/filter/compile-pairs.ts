import { all, bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { encodeMetadata, ENTRY, pairText, VALUE } from "../runs/pairs.ts";
import { compileTest } from "./compile-test.ts";
import type { Literal, Test } from "./expression.ts";
import type { PartName } from "./fields.ts";

/**
 * Conditions on the lists that a run's row holds as text (runs/pairs.ts). Equality is a search for the entry's text;
 * anything else takes the list apart, where there is a key only after a look whether it occurs.
 */

/** Some entry of a list of pairs passes all tests. */
export function somePair(list: Fragment, tests: { part: PartName; test: Test }[]): Fragment {
  const text = ch`ifNull(${list}, '')`;
  const keys = tests.filter((one) => one.part === "key").map((one) => one.test);
  const values = tests.filter((one) => one.part !== "key").map((one) => one.test);
  const key = keys.length === 1 ? exactText(keys[0]!) : undefined;
  const value = values.length === 1 ? exactText(values[0]!) : undefined;
  if (key !== undefined && values.length === 0) return holds(text, `${ENTRY}${key}${VALUE}`);
  if (key !== undefined && value !== undefined) return holds(text, `${ENTRY}${key}${VALUE}${value}${ENTRY}`);
  if (value !== undefined && keys.length === 0) return holds(text, `${VALUE}${value}${ENTRY}`);

  const keyOf = raw("substring(entry, 1, position(entry, char(31)) - 1)");
  const valueOf = raw("substring(entry, position(entry, char(31)) + 1)");
  const passes = [
    ...keys.map((test) => compileTest({ sql: keyOf, type: "text", nullable: false }, shortened(test))),
    ...values.map((test) => compileTest({ sql: valueOf, type: "text", nullable: false }, shortened(test))),
  ];
  const exists = someEntry(text, all(passes));
  return key === undefined ? exists : all([holds(text, `${ENTRY}${key}${VALUE}`), exists]);
}

/** Some tag passes the test. */
export function someTag(list: Fragment, test: Test): Fragment {
  const text = ch`ifNull(${list}, '')`;
  const tag = exactText(test);
  if (tag !== undefined) return holds(text, `${ENTRY}${tag}${ENTRY}`);
  return someEntry(text, compileTest({ sql: raw("entry"), type: "text", nullable: false }, shortened(test)));
}

/** The list has each of these keys with this value. No value means no key: absent and null are stored alike. */
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

/** The text begins and ends with a separator, so the first and the last part are none of the entries. */
const someEntry = (text: Fragment, condition: Fragment): Fragment =>
  ch`arrayExists(entry -> ${condition}, arraySlice(splitByChar(char(30), ${text}), 2, -1))`;

/** The text that must be equal, if that is all a test asks. A number may be written in several ways. */
const exactText = (test: Test): string | undefined =>
  test.op === "eq" && typeof test.value !== "number" ? pairText(String(test.value)) : undefined;

/** Stored values are cut, so what they are compared with is too. */
function shortened(test: Test): Test {
  const cut = (value: Literal): Literal => (typeof value === "string" ? pairText(value) : value);
  if (test.op === "in") return { op: "in", values: test.values.map(cut) };
  return "value" in test ? { op: test.op, value: cut(test.value) } : test;
}
