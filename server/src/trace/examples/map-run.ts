import type { MappedPart, RunMapping } from "../datasets/mapping-schema.ts";
import { parsePath, readPath } from "../datasets/run-path.ts";

/** Fields of a run that an example can be taken from. */
export interface SourceRun {
  id: string;
  name?: string | undefined;
  run_type?: string | undefined;
  trace_id?: string | undefined;
  thread_id?: string | null | undefined;
  inputs: unknown;
  outputs: unknown;
  error?: string | null | undefined;
  metadata?: Record<string, unknown> | undefined;
  tags?: string[] | undefined;
  /** Tools of a model call (`extra.invocation_params.tools`), for the transformation that extracts them. */
  tools?: unknown[] | undefined;
}

type JsonObject = Record<string, unknown>;

export interface MappedExample {
  inputs: JsonObject;
  outputs: JsonObject | null;
  metadata: JsonObject;
  /** Paths that the run does not have. */
  missing: string[];
}

/** Takes the fields of an example from a run. Fields whose paths the run does not have are left out, and named. */
export function mapRun(run: SourceRun, mapping: RunMapping | null | undefined): MappedExample {
  const missing: string[] = [];
  const inputs = readPart(run, mapping?.inputs ?? "inputs", "input", missing) ?? {};
  const outputs = readPart(run, mapping?.outputs ?? "outputs", "output", mapping?.outputs == null ? [] : missing);
  const metadata = mapping?.metadata ? readFields(run, mapping.metadata, missing) : {};
  return { inputs, outputs, metadata, missing };
}

function readPart(run: SourceRun, part: NonNullable<MappedPart>, key: string, missing: string[]): JsonObject | null {
  if (typeof part !== "string") {
    const fields = readFields(run, part, missing);
    return Object.keys(fields).length > 0 ? fields : null;
  }
  const value = read(run, part);
  if (value == null) {
    missing.push(part);
    return null;
  }
  return asObject(value, key);
}

function readFields(run: SourceRun, paths: Record<string, string>, missing: string[]): JsonObject {
  const entries: [string, unknown][] = [];
  for (const [name, path] of Object.entries(paths)) {
    const value = read(run, path);
    if (value === undefined) missing.push(path);
    else entries.push([name, value]);
  }
  // fromEntries defines names like __proto__ as ordinary ones
  return Object.fromEntries(entries);
}

function read(run: SourceRun, path: string): unknown {
  const steps = parsePath(path);
  return typeof steps === "string" ? undefined : readPath(run, steps);
}

/**
 * Wraps a value under `key` unless it is an object: a run's inputs and outputs may be any JSON, an example's are
 * objects.
 */
export const asObject = (value: unknown, key: string): JsonObject | null =>
  value == null ? null : typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : { [key]: value };
