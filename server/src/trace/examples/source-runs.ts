import { notFound, unprocessable } from "../../base/errors.ts";
import { parseJson } from "../../base/json-structure.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { RunMapping } from "../datasets/mapping-schema.ts";
import type { TraceDeps } from "../deps.ts";
import { tagList } from "../runs/run-fields.ts";
import type { Row } from "../runs/select-page.ts";
import { findSourceRows, type SourceRow } from "./clickhouse.ts";
import { prepareExample } from "./example-from-run.ts";
import type { SourceRun } from "./map-run.ts";
import { isObject } from "./openai-messages.ts";
import type { NewExample } from "./write-examples.ts";

interface Sourced extends NewExample {
  use_source_run_io?: boolean | null | undefined;
  use_source_run_attachments?: string[] | null | undefined;
  run_mapping?: RunMapping | null | undefined;
}

/** Examples per ClickHouse query, which bounds the run data in memory. */
const BATCH = 200;

/** The run's own inputs and outputs, whatever mapping the dataset remembers. */
const WHOLE: RunMapping = {};

/**
 * Fills in the inputs and outputs of examples from their source runs, unless given, as their mapping and the dataset's
 * transformations say.
 *
 * @throws 404 for a dataset or run that the workspace does not have, 422 for an example that names none
 */
export async function takeFromSourceRuns<E extends Sourced>(
  deps: Pick<TraceDeps, "sql" | "clickhouse">,
  tenantId: string,
  datasetId: string,
  examples: E[],
): Promise<E[]> {
  const taking = examples.filter((example) => example.use_source_run_io || example.run_mapping);
  if (taking.length === 0) return examples;
  if (taking.some((example) => !example.source_run_id)) throw unprocessable("use_source_run_io needs a source_run_id.");
  const dataset = await findDatasetRow(deps.sql, tenantId, datasetId);
  if (!dataset) throw notFound("Dataset not found");
  const runs = await readSourceRuns(
    deps,
    tenantId,
    taking.map((example) => example.source_run_id!),
  );
  return examples.map((example) => {
    if (!example.use_source_run_io && !example.run_mapping) return example;
    const run = runs.get(example.source_run_id!);
    if (!run) throw notFound(`Source run ${example.source_run_id!} not found`);
    const { inputs, outputs, metadata } = prepareExample(dataset, run, example.run_mapping ?? WHOLE);
    return {
      ...example,
      inputs: example.inputs ?? inputs,
      outputs: example.outputs ?? outputs,
      ...(example.run_mapping?.metadata && { metadata: { ...metadata, ...example.metadata } }),
    };
  });
}

/** Reads runs by id, as examples are taken from them; unknown ones are left out. */
export async function readSourceRuns(
  { clickhouse }: Pick<TraceDeps, "clickhouse">,
  tenantId: string,
  runIds: readonly string[],
): Promise<Map<string, SourceRun & { project_id: string }>> {
  const ids = [...new Set(runIds)];
  const found = new Map<string, SourceRun & { project_id: string }>();
  for (let at = 0; at < ids.length; at += BATCH) {
    for (const row of await findSourceRows(clickhouse, tenantId, ids.slice(at, at + BATCH))) {
      found.set(row.id, toSourceRun(row));
    }
  }
  return found;
}

function toSourceRun(row: SourceRow): SourceRun & { project_id: string } {
  const extra = row.extra === null ? null : parseJson(row.extra);
  const metadata = isObject(extra) ? extra["metadata"] : undefined;
  const params = isObject(extra) ? extra["invocation_params"] : undefined;
  const tools = isObject(params) ? params["tools"] : undefined;
  return {
    id: row.id,
    project_id: row.project_id,
    trace_id: row.trace_id,
    thread_id: row.thread_id || null,
    name: row.name ?? "",
    run_type: row.run_type ?? "",
    error: row.error,
    inputs: row.inputs === null ? null : parseJson(row.inputs),
    outputs: row.outputs === null ? null : parseJson(row.outputs),
    metadata: isObject(metadata) ? metadata : {},
    tags: tagList({ tags: row.tags } as Row),
    ...(Array.isArray(tools) && { tools: tools as unknown[] }),
  };
}
