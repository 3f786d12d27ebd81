import { describe, expect, test } from "vitest";

import { FilterError } from "./filter-error.ts";
import { readFilter } from "./read-filter.ts";

/** Formats the expression in short form: fields by name, pairs as `some metadata(key eq k)`. */
function brief(source: string): string {
  const show = (e: ReturnType<typeof readFilter>): string => {
    const test = (t: object): string => {
      const { op, ...rest } = t as { op: string };
      return `${op}${Object.values(rest)
        .map((v) => ` ${JSON.stringify(v)}`)
        .join("")}`;
    };
    if (e.kind === "and") return `and(${e.items.map(show).join(", ")})`;
    if (e.kind === "or") return `or(${e.items.map(show).join(", ")})`;
    if (e.kind === "not") return `not ${show(e.item)}`;
    if (e.kind === "field") return `${e.field.name} ${test(e.test)}`;
    if (e.kind === "some_pair")
      return `some ${e.family}(${e.tests.map((t) => `${t.part} ${test(t.test)}`).join(", ")})`;
    if (e.kind === "some_tag") return `some tag ${test(e.test)}`;
    if (e.kind === "search") return `search ${JSON.stringify(e.text)}`;
    const entries = e.kind === "metadata_contains" ? e.entries : [];
    return `metadata has ${JSON.stringify(Object.fromEntries(entries.map((entry) => [entry.key, entry.value])))}`;
  };
  return show(readFilter(source));
}

const problem = (source: string): { position: number; reason: string } => {
  try {
    readFilter(source);
  } catch (error) {
    if (error instanceof FilterError) return { position: error.position, reason: error.reason };
    throw error;
  }
  throw new Error(`${source} was understood`);
};

test.each([
  ['and(eq(run_type,"chain"),gt(latency,10))', 'and(run_type eq "chain", latency gt 10)'],
  ['and(eq(run_type, "chain"),)', 'run_type eq "chain"'],
  ['gt(latency,"5s")', "latency gt 5"],
  ['lt(latency,"250ms")', "latency lt 0.25"],
  ['gte(latency, "2m")', "latency gte 120"],
  ['and(eq("run_type", "llm"), gt(\'latency\', 5))', 'and(run_type eq "llm", latency gt 5)'],
  ['has("metadata", \'{"foo":"bar"}\')', 'metadata has {"foo":"bar"}'],
  ['and(eq("metadata_key", "k"), eq("metadata_value", "v"))', 'some metadata(key eq "k", value eq "v")'],
  ["neq(error, null)", "error not_null"],
  ["eq(error, null)", "error is_null"],
  ["eq(is_root, true)", "is_root eq true"],
  ["eq(execution_order, 1)", "is_root eq true"],
  ['has(tags, "x")', 'some tag eq "x"'],
  ['neq(tags, "x")', 'not some tag eq "x"'],
  ['has(metadata, \'{"a": {"b": 1}}\')', 'metadata has {"a":{"b":1}}'],
  ['exists(metadata, "k")', 'some metadata(key eq "k")'],
  ['search("two words")', 'search "two words"'],
  ['search(name, "Chat")', 'name search "Chat"'],
  ['search(inputs, "x")', 'inputs search "x"'],
  ["like(error, 'a\\%b')", 'error like "a\\\\%b"'],
  ['gt(start_time,"2023-07-15T12:34:56Z")', 'start_time gt "2023-07-15 12:34:56.000000"'],
  ['gt(start_time,"2023-07-15T12:34:56.1234567+02:00")', 'start_time gt "2023-07-15 10:34:56.123456"'],
  ['gt(start_time,"2023-07-15")', 'start_time gt "2023-07-15 00:00:00.000000"'],
  ["gt(start_time,1689424496000)", 'start_time gt "2023-07-15 12:34:56.000000"'],
  [`eq(id, '0A0B0C0D0E0F40008000000000000001')`, 'id eq "0a0b0c0d-0e0f-4000-8000-000000000001"'],
  ['eq(name, "a\\u0041\\"\\n\\\\")', 'name eq "aA\\"\\n\\\\"'],
  ["in(run_type, [])", "run_type in []"],
  ["gt(total_cost, 1e-6)", "total_cost gt 0.000001"],
])("%s", (source, meaning) => expect(brief(source)).toBe(meaning));

describe("adjacent conditions on pairs", () => {
  test.each([
    // the four rows of the contract's table
    ["and(neq(metadata_key,'k'))", 'not some metadata(key eq "k")'],
    ["and(eq(metadata_key,'k'),neq(metadata_value,'v'))", 'some metadata(key eq "k", value neq "v")'],
    [
      "and(neq(metadata_key,'k'),neq(metadata_value,'v'))",
      'and(not some metadata(key eq "k"), not some metadata(value eq "v"))',
    ],
    [
      "and(neq(metadata_key,'k'),eq(metadata_value,'v'))",
      'and(not some metadata(key eq "k"), some metadata(value eq "v"))',
    ],
    // and their consequences
    ["neq(metadata_key,'k')", 'not some metadata(key eq "k")'],
    ["not(eq(metadata_key,'k'))", 'not some metadata(key eq "k")'],
    ["or(eq(metadata_key,'k'),eq(metadata_value,'v'))", 'or(some metadata(key eq "k"), some metadata(value eq "v"))'],
    [
      "and(eq(metadata_key,'a'),eq(metadata_value,'1'),eq(metadata_key,'b'),eq(metadata_value,'2'))",
      'and(some metadata(key eq "a", value eq "1"), some metadata(key eq "b", value eq "2"))',
    ],
    ["and(eq(metadata_value,'1'),eq(metadata_key,'a'))", 'some metadata(value eq "1", key eq "a")'],
    [
      "and(eq(input_key,'a.b'),like(input_value,'%x%'),eq(feedback_key,'k'),gt(feedback_score,0.5))",
      'and(some input(key eq "a.b", value like "%x%"), some feedback(key eq "k", score gt 0.5))',
    ],
    ["and(eq(feedback_key,'k'),eq(feedback_score,null))", 'some feedback(key eq "k", score is_null)'],
  ])("%s", (source, meaning) => expect(brief(source)).toBe(meaning));
});

test.each([
  ["", 0, /empty/],
  ["   ", 3, /empty/],
  ["eq", 0, /must begin with a function/],
  ["eq(run_type, llm)", 13, /put text in quotes/],
  ['eq(run_type, "llm"', 2, /has no \)/],
  ['eq(run_type, "llm', 13, /unterminated string/],
  ['eq(run_type "llm")', 12, /expected ","/],
  ['eq(run_type, "llm") x', 20, /expected the end/],
  ['eq(5, "llm")', 3, /takes a field first/],
  ['eq("llm", "run_type")', 3, /no field "llm"/],
  ['and(eq(nmae, "x"))', 7, /no field "nmae"/],
  ["equals(name, 1)", 0, /no function "equals"/],
  ["eq(name)", 0, /takes a field and a value/],
  ["and()", 0, /at least one/],
  ["not(eq(name,1),eq(name,2))", 0, /one expression/],
  ['and("x")', 4, /takes expressions/],
  ['gt(latency, "5 parsecs")', 12, /seconds/],
  ['gt(start_time, "2023-02-31")', 15, /times/],
  ['gt(start_time, "soon")', 15, /times/],
  ["gt(start_time, 1e20)", 15, /times/],
  ['eq(id, "x")', 7, /UUIDs/],
  ['gt(id, "0a0b0c0d-0e0f-4000-8000-000000000001")', 7, /no order/],
  ["eq(name, null)", 9, /never null/],
  ["gt(error, null)", 10, /with eq and neq/],
  ["in(name, 1)", 9, /takes a list/],
  ["in(name, [null])", 10, /with eq and neq/],
  ["has(metadata, '[1]')", 14, /JSON object/],
  ['has(name, "x")', 0, /only applies to tags and metadata/],
  ['search("")', 7, /at least one character/],
  ['like(name, "a\\")', 11, /unterminated string/],
  ["like(name, 'a\\\\')", 11, /single backslash/],
  ["eq(execution_order, 2)", 0, /compared with 1/],
  ["eq(name, 1e999)", 9, /too large/],
  ["eq(name; 1)", 7, /unexpected ";"/],
  ['eq(inputs, "x")', 11, /searched/],
  ["eq(__proto__, 1)", 3, /no field/],
  ["constructor(name, 1)", 0, /no function/],
  ["eq(total_tokens, true)", 17, /numbers/],
])("rejects %s at character %i", (source, position, reason) => {
  const found = problem(source);
  expect(found.reason).toMatch(reason);
  expect(found.position).toBe(position);
});

test("a syntax error is a 400 with the position", () => {
  expect(() => readFilter("and(eq(a,1))")).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringMatching(/^Invalid filter at character 7: /) }),
  );
});

test("rejects expressions that are too deep, too long or too large", () => {
  expect(problem("not(".repeat(60) + "x" + ")".repeat(60)).reason).toMatch(/levels deep/);
  expect(problem("not(".repeat(16_000)).reason).toMatch(/levels deep/);
  expect(problem(`and(${"eq(name,1),".repeat(1001)})`).reason).toMatch(/1000 conditions/);
  expect(problem(`eq(name,"${"x".repeat(70_000)}")`).reason).toMatch(/65536 characters/);
});
