import { expect, test } from "vitest";
import { z } from "zod";

import { boundedParse } from "./bounded-parse.ts";

const many = (value: unknown) => Array<unknown>(100_001).fill(value);
const names = (value: unknown) => Object.fromEntries(many(value).map((each, n) => [`n${n}`, each]));

const item = z.object({ a: z.string() });
const TOO_MANY: Record<string, [z.ZodType, unknown]> = {
  "a list": [z.array(item), many(null)],
  "a list in an object": [z.object({ list: z.array(item) }), { list: many({}) }],
  "an optional list": [z.object({ list: z.array(item).nullish() }), { list: many(1) }],
  "lists in a list": [z.array(z.array(z.string())), Array(1000).fill(Array(1000).fill(1))],
  "a list among alternatives": [z.union([z.string(), z.array(z.union([z.string(), item]))]), many(1)],
  "a list that is transformed": [z.array(z.string()).transform((list) => list.length), many(1)],
  "a list after preprocessing": [z.preprocess((value) => value, z.array(z.string())), many(1)],
  "a list in a lazy schema": [z.lazy(() => z.array(z.string())), many(1)],
  "a record": [z.record(z.string(), z.string()), names(1)],
  "the rest of a tuple": [z.tuple([z.string()], z.number()), many("x")],
  "names that are not in the schema": [
    z.strictObject({}),
    Object.fromEntries(Array.from({ length: 1_100_000 }, (_, n) => [n, 1])),
  ],
};

test.each(Object.entries(TOO_MANY))("rejects %s with too many values, before it is checked", (_, [schema, value]) => {
  expect(() => boundedParse(schema, value)).toThrow(expect.objectContaining({ status: 413 }));
});

test("checks what is within the limit, and passes on long lists of any values", () => {
  expect(boundedParse(z.array(item), Array(1000).fill({ a: "x" })).success).toBe(true);
  expect(boundedParse(z.array(item), [null]).success).toBe(false);
  expect(boundedParse(z.object({ input: z.unknown() }), { input: many(1) }).success).toBe(true);
  expect(boundedParse(z.array(z.unknown()), many(1)).success).toBe(true);
});
