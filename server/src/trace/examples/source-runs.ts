import { notFound, unprocessable } from "../../base/errors.ts";
import { parseJson } from "../../base/json-structure.ts";
import type { TraceDeps } from "../deps.ts";
import { findRunIo } from "./clickhouse.ts";
import type { NewExample } from "./write-examples.ts";

interface Sourced extends NewExample {
  use_source_run_io?: boolean | null | undefined;
  use_source_run_attachments?: string[] | null | undefined;
}

/** Examples per ClickHouse query, which bounds the run data in memory. */
const BATCH = 200;

/**
 * Fills in the inputs and outputs of examples from their source runs, unless given.
 *
 * @throws 404 for a run that the workspace does not have, 422 for an example that names none
 */
export async function takeFromSourceRuns<E extends Sourced>(
  { clickhouse }: Pick<TraceDeps, "clickhouse">,
  tenantId: string,
  examples: E[],
): Promise<E[]> {
  const taking = examples.filter((example) => example.use_source_run_io);
  if (taking.some((example) => !example.source_run_id)) throw unprocessable("use_source_run_io needs a source_run_id.");
  const ids = [...new Set(taking.map((example) => example.source_run_id!))];
  const found = new Map<string, { inputs: Json; outputs: Json }>();
  for (let at = 0; at < ids.length; at += BATCH) {
    for (const run of await findRunIo(clickhouse, tenantId, ids.slice(at, at + BATCH))) {
      found.set(run.id, { inputs: toObject(run.inputs, "input"), outputs: toObject(run.outputs, "output") });
    }
  }
  return examples.map((example) => {
    if (!example.use_source_run_io) return example;
    const run = found.get(example.source_run_id!);
    if (!run) throw notFound(`Source run ${example.source_run_id!} not found`);
    return { ...example, inputs: example.inputs ?? run.inputs ?? {}, outputs: example.outputs ?? run.outputs };
  });
}

type Json = Record<string, unknown> | null;

/**
 * Wraps a value under `key` unless it is an object: a run's inputs and outputs may be any JSON, an example's are
 * objects.
 */
function toObject(text: string | null, key: string): Json {
  if (text === null) return null;
  const value = parseJson(text);
  if (value === null) return null;
  return typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : { [key]: value };
}
