import { createContext, Script } from "node:vm";

import { type Schema, Validator } from "@cfworker/json-schema";

import { unprocessable } from "../../base/errors.ts";
import type { DatasetRow } from "./sql.ts";

/** What all examples of a request may take. Then it is the schema's fault: a `pattern` can take for ever. */
const TIME_LIMIT_MS = 500;

type Schemas = Pick<DatasetRow, "inputs_schema_definition" | "outputs_schema_definition">;

interface Checked {
  example_id: string;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown> | null;
}

/**
 * Whether the examples are as the dataset's JSON Schemas want them. An example without outputs passes: what is not
 * there yet is not wrong.
 *
 * @throws 422 that names the first that is not
 */
export function checkExamples(schemas: Schemas, examples: Checked[]): void {
  const { inputs_schema_definition: inputs, outputs_schema_definition: outputs } = schemas;
  if (!inputs && !outputs) return;
  const wrong = withinTime(() => {
    const ofInputs = inputs && validatorOf(inputs);
    const ofOutputs = outputs && validatorOf(outputs);
    for (const example of examples) {
      const reason =
        firstError(ofInputs, "inputs", example.inputs) ??
        (example.outputs ? firstError(ofOutputs, "outputs", example.outputs) : undefined);
      if (reason !== undefined) return `Example ${example.example_id}: ${reason}`;
    }
    return undefined;
  });
  if (wrong !== undefined) throw unprocessable(`${wrong} (schema of the dataset)`);
}

/** A schema that no validator can work with is refused before a dataset has it. @throws 422 */
export function checkSchema(field: string, schema: Record<string, unknown> | null | undefined): void {
  if (!schema) return;
  try {
    withinTime(() => validatorOf(schema).validate({}));
  } catch (error) {
    throw unprocessable(`${field}: is no usable JSON Schema: ${(error as Error).message}`);
  }
}

/** Interprets, where others compile schemas to code: what a user sends is never run. */
function validatorOf(schema: Record<string, unknown>): Validator {
  const isOld = typeof schema.$schema === "string" && /draft-0[47]/.exec(schema.$schema);
  return new Validator(schema as Schema, isOld ? (isOld[0] === "draft-04" ? "4" : "7") : "2020-12", true);
}

function firstError(validator: Validator | null | undefined, field: string, value: unknown): string | undefined {
  const result = validator?.validate(value);
  if (!result || result.valid) return undefined;
  // the innermost is the last
  const { instanceLocation, error } = result.errors.at(-1)!;
  return `${field}${instanceLocation.slice(1)}: ${error}`;
}

/** The virtual machine's own watchdog, which stops a regular expression as well. */
function withinTime<T>(work: () => T): T {
  try {
    return new Script("work()").runInContext(createContext({ work }), { timeout: TIME_LIMIT_MS }) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw unprocessable(`The dataset's JSON Schema takes more than ${TIME_LIMIT_MS} ms.`);
  }
}
