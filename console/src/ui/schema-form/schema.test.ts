import { expect, test } from "vitest";

import { emptyValue, type JsonSchema, isBrokenJson, readAny, readField } from "./schema.ts";

const kind = (schema: JsonSchema, root: JsonSchema = schema) => readField(schema, root).kind;

test("each type has its field, and an unknown one accepts any JSON", () => {
  expect(kind({ type: "string" })).toBe("text");
  expect(kind({ type: ["integer", "null"] })).toBe("integer");
  expect(kind({ enum: ["a", "b"] })).toBe("choice");
  expect(kind({ type: "array", items: { type: "string" } })).toBe("texts");
  expect(kind({ type: "array", items: { type: "object", properties: { a: {} } } })).toBe("list");
  expect(kind({ type: "object", properties: { a: {} } })).toBe("object");
  expect(kind({})).toBe("any");
  expect(kind({ type: "object" })).toBe("any");
  expect(kind({ anyOf: [{ type: "string" }, { type: "number" }] })).toBe("any");
});

test("removes null from alternatives, and shows constants as a choice", () => {
  expect(readField({ anyOf: [{ type: "string" }, { type: "null" }], title: "T" }, {})).toMatchObject({
    kind: "text",
    isNullable: true,
    schema: { title: "T" },
  });
  expect(readField({ oneOf: [{ const: 1 }, { const: 2 }] }, {})).toMatchObject({
    kind: "choice",
    schema: { enum: [1, 2] },
  });
});

test("resolves references, and stops at a recursive one", () => {
  const root: JsonSchema = {
    $defs: { Leaf: { type: "string" }, Loop: { $ref: "#/$defs/Loop" }, Tree: { type: "object", properties: {} } },
  };
  root.$defs!["Tree"]!.properties!["child"] = { $ref: "#/$defs/Tree" };
  expect(kind({ $ref: "#/$defs/Leaf" }, root)).toBe("text");
  expect(kind({ allOf: [{ $ref: "#/$defs/Leaf" }] }, root)).toBe("text");
  expect(kind({ $ref: "#/$defs/Loop" }, root)).toBe("any");
  expect(kind({ $ref: "#/$defs/None" }, root)).toBe("any");
  expect(readField({ $ref: "#/$defs/Tree" }, root, 5).kind).toBe("any");
});

test("reads valid JSON as JSON and other text as text, and detects broken JSON", () => {
  expect([readAny("3"), readAny("true"), readAny("hello"), readAny(" ")]).toEqual([3, true, "hello", undefined]);
  expect([isBrokenJson('{"a":'), isBrokenJson('{"a":1}'), isBrokenJson("hello")]).toEqual([true, false, false]);
});

test("a new entry starts with its schema's default", () => {
  expect(emptyValue({ type: "string", default: "x" }, {})).toBe("x");
  expect(emptyValue({ type: "object", properties: { a: {} } }, {})).toEqual({});
});
