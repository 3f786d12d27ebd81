import { type Schema, Validator } from "@cfworker/json-schema";

import { unprocessable } from "../../base/errors.ts";
import { withinTime } from "../../base/within-time.ts";
import type { DatasetRow } from "./sql.ts";

/**
 * Time limit in milliseconds for all examples of a request. Exceeding it is the schema's fault: a `pattern` may never
 * terminate.
 */
const TIME_LIMIT_MS = 500;

type Schemas = Pick<DatasetRow, "inputs_schema_definition" | "outputs_schema_definition">;

interface Checked {
  example_id: string;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown> | null;
}

/**
 * Validates examples against the dataset's JSON Schemas. An example without outputs passes.
 *
 * @throws 422 naming the first invalid example
 */
export function checkExamples(schemas: Schemas, examples: Checked[]): void {
  const { inputs_schema_definition: inputs, outputs_schema_definition: outputs } = schemas;
  if (!inputs && !outputs) return;
  const wrong = inTime(() => {
    const inputsValidator = inputs && createValidator(inputs);
    const outputsValidator = outputs && createValidator(outputs);
    for (const example of examples) {
      const reason =
        firstError(inputsValidator, "inputs", example.inputs) ??
        (example.outputs ? firstError(outputsValidator, "outputs", example.outputs) : undefined);
      if (reason !== undefined) return `Example ${example.example_id}: ${reason}`;
    }
    return undefined;
  });
  if (wrong !== undefined) throw unprocessable(`${wrong} (schema of the dataset)`);
}

/** Rejects a schema that no validator can use, before a dataset stores it. @throws 422 */
export function checkSchema(field: string, schema: Record<string, unknown> | null | undefined): void {
  if (!schema) return;
  try {
    inTime(() => createValidator(schema).validate({}));
  } catch (error) {
    throw unprocessable(`${field}: is not a valid JSON Schema: ${(error as Error).message}`);
  }
}

/** Creates an interpreting validator. Others compile schemas to code, and user input must never be executed. */
function createValidator(schema: Record<string, unknown>): Validator {
  const isOld = typeof schema.$schema === "string" && /draft-0[47]/.exec(schema.$schema);
  return new Validator(schema as Schema, isOld ? (isOld[0] === "draft-04" ? "4" : "7") : "2020-12", true);
}

function firstError(validator: Validator | null | undefined, field: string, value: unknown): string | undefined {
  const result = validator?.validate(value);
  if (!result || result.valid) return undefined;
  // the innermost error is last
  const { instanceLocation, error } = result.errors.at(-1)!;
  return `${field}${instanceLocation.slice(1)}: ${error}`;
}

/** @throws 422 when validation takes too long */
function inTime<T>(work: () => T): T {
  // a result is wrapped, so that it is never undefined
  const done = withinTime(TIME_LIMIT_MS, () => ({ result: work() }));
  if (done) return done.result;
  throw unprocessable(
    `Validation with the dataset's JSON Schema took longer than ${TIME_LIMIT_MS} ms. Simplify the schema.`,
  );
}
