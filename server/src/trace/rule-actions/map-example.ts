import type { EvaluatedRun } from "../evaluators/schema.ts";
import type { DatasetMapping } from "./mapping-schema.ts";

type Json = Record<string, unknown>;

/**
 * Builds the inputs and outputs of an example from a run. A correction replaces the outputs.
 * @param correction undefined: none
 */
export function mapExample(
  run: EvaluatedRun,
  mapping: DatasetMapping | null,
  correction?: unknown,
): { inputs: Json; outputs: Json | null; metadata: Json } {
  const corrected = correction === undefined || correction === null ? run : { ...run, outputs: correction };
  return {
    inputs: mapping?.inputs ? pick(corrected, mapping.inputs) : (toObject(run.inputs, "input") ?? {}),
    outputs: mapping?.outputs ? pick(corrected, mapping.outputs) : toObject(corrected.outputs, "output"),
    metadata: mapping?.metadata ? pick(corrected, mapping.metadata) : {},
  };
}

const pick = (run: EvaluatedRun, fields: Record<string, string>): Json =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, at]) => {
      const value = readPath(run, at.split("."));
      return value === undefined ? [] : [[name, value]];
    }),
  );

function readPath(run: EvaluatedRun, keys: readonly string[]): unknown {
  let value: unknown = run;
  for (const key of keys) {
    if (Array.isArray(value)) value = value.at(/^-?\d+$/.test(key) ? Number(key) : Infinity);
    else if (value !== null && typeof value === "object" && Object.hasOwn(value, key)) value = (value as Json)[key];
    else return undefined;
  }
  return value;
}

/** Wraps a value that is not an object: the inputs and outputs of examples are objects. */
function toObject(value: unknown, key: string): Json | null {
  if (value === null || value === undefined) return null;
  return typeof value === "object" && !Array.isArray(value) ? (value as Json) : { [key]: value };
}
