import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";

/** Fields of a run that examples are taken from; inputs, outputs and extra are JSON text. */
export interface SourceRow {
  id: string;
  project_id: string;
  trace_id: string;
  thread_id: string | null;
  name: string | null;
  run_type: string | null;
  error: string | null;
  inputs: string | null;
  outputs: string | null;
  extra: string | null;
  tags: string | null;
}

/** Returns the given runs that the workspace has. The keys locate them, so only their granules are read. */
export async function findSourceRows(clickhouse: ClickHouse, tenantId: string, ids: string[]): Promise<SourceRow[]> {
  const keys = (await findRunKeys(clickhouse, tenantId, ids)).filter((key) => !key.deleted);
  if (keys.length === 0) return [];
  return clickhouse.rows<SourceRow>({
    name: "datasets.source_runs",
    query: `select id, project_id, trace_id, thread_id, name, run_type, error, inputs, outputs, extra, tags from runs final
      where tenant_id = {tenant:UUID} and project_id in {projects:Array(UUID)}
        and start_time in {times:Array(DateTime64(6, 'UTC'))} and id in {ids:Array(UUID)}`,
    params: {
      tenant: tenantId,
      projects: [...new Set(keys.map((key) => key.project_id))],
      times: [...new Set(keys.map((key) => key.start_time))],
      ids: keys.map((key) => key.id),
    },
  });
}
