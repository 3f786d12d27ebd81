import { all, any, bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { ENTRY, pairText, VALUE } from "../run-rows/pairs.ts";
import { compileTest } from "./compile-test.ts";
import type { Literal, Test } from "./expression.ts";
import { entryNeedles, exactText, pairNeedles, type PairTest, storedVariants, tagNeedle } from "./list-needles.ts";

/**
 * Conditions on the lists that a run's row stores as text (run-rows/pairs.ts). Equality is a substring search for the
 * entry's text. Other tests split the list, with a known key only after a check that the key occurs.
 */

/**
 * Compiles the condition that some entry of a list of pairs passes all tests.
 * @param hasThreads whether the list is the metadata, where threads are stored as a whole
 */
export function somePair(list: Fragment, tests: PairTest[], hasThreads: boolean): Fragment {
  const text = ch`ifNull(${list}, '')`;
  const needles = pairNeedles(tests, hasThreads);
  if (needles) return any(needles.map((needle) => holds(text, needle)));
  const keys = tests.filter((test) => test.part === "key").map((test) => test.test);
  const values = tests.filter((test) => test.part !== "key").map((test) => test.test);
  const key = keys.length === 1 ? exactText(keys[0]!) : undefined;
  const variants = storedVariants(keys, hasThreads);

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
  const needle = tagNeedle(test);
  if (needle !== undefined) return holds(text, needle);
  return someEntry(text, compileTest({ sql: raw("entry"), type: "text", nullable: false }, shortened(test)));
}

/** Compiles the condition that the list has each of these keys with this value. */
export function containsEntries(list: Fragment, entries: { key: string; value: unknown }[]): Fragment {
  const text = ch`ifNull(${list}, '')`;
  return all(
    entryNeedles(entries).map((needle) =>
      needle.isIn ? holds(text, needle.text) : ch`not (${holds(text, needle.text)})`,
    ),
  );
}

const holds = (text: Fragment, needle: string): Fragment => ch`position(${text}, ${bind("String", needle)}) > 0`;

/** The text begins and ends with a separator, so the first and the last part are not entries. */
const someEntry = (text: Fragment, condition: Fragment): Fragment =>
  ch`arrayExists(entry -> ${condition}, arraySlice(splitByChar(char(30), ${text}), 2, -1))`;

/** Truncates the operands as stored keys and tags are truncated. */
const shortened = (test: Test): Test => withOperands(test, pairText);

function withOperands(test: Test, form: (text: string) => string): Test {
  const change = (value: Literal): Literal => (typeof value === "string" ? form(value) : value);
  if (test.op === "in") return { op: "in", values: test.values.map(change) };
  return "value" in test ? { op: test.op, value: change(test.value) } : test;
}
