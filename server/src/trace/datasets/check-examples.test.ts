import { expect, test } from "vitest";

import { checkExamples, checkSchema } from "./check-examples.ts";

const example_id = "00000000-0000-7000-8000-000000000001";
const person = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 } },
  required: ["name"],
  additionalProperties: false,
};

const check =
  (inputs: Record<string, unknown>, outputs: Record<string, unknown> | null = null) =>
  () =>
    checkExamples({ inputs_schema_definition: person, outputs_schema_definition: person }, [
      { example_id, inputs, outputs },
    ]);

test("validates examples against the dataset's schemas and names the invalid value", () => {
  expect(check({ name: "A", age: 3 })).not.toThrow();
  expect(check({ age: 3 })).toThrow(/inputs.*name/);
  expect(check({ name: "A", age: "3" })).toThrow(/inputs\/age/);
  expect(check({ name: "A", extra: 1 })).toThrow(/inputs/);
  expect(check({ name: "A" }, { name: 5 })).toThrow(/outputs\/name/);
});

test("stops a pattern that runs too long", () => {
  const schema = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
  const started = Date.now();
  const inputs = { a: `${"a".repeat(60)}!` };
  const schemas = { inputs_schema_definition: schema, outputs_schema_definition: null };
  expect(() => checkExamples(schemas, [{ example_id, inputs, outputs: null }])).toThrow(/took longer than/);
  // exhaustive backtracking would practically never end
  expect(Date.now() - started).toBeLessThan(20_000);
});

test("rejects a schema with an unresolvable reference", () => {
  expect(() => checkSchema("inputs_schema_definition", person)).not.toThrow();
  expect(() => checkSchema("inputs_schema_definition", { $ref: "#/$defs/nowhere" })).toThrow(/not a valid JSON Schema/);
});

test("resolves references within the schema, as pydantic writes them", () => {
  const schema = { $defs: { P: person }, type: "object", properties: { p: { $ref: "#/$defs/P" } }, required: ["p"] };
  const schemas = { inputs_schema_definition: schema, outputs_schema_definition: null };
  const checking = (p: unknown) => () => checkExamples(schemas, [{ example_id, inputs: { p }, outputs: null }]);
  expect(checking({ name: "A" })).not.toThrow();
  expect(checking({ name: 1 })).toThrow(/inputs\/p\/name/);
});
