import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";

/** Inputs and outputs of a run as JSON text. */
export interface RunIo {
  id: string;
  inputs: string | null;
  outputs: string | null;
}

/** Returns the given runs that the workspace has. The keys locate them, so only their granules are read. */
export async function findRunIo(clickhouse: ClickHouse, tenantId: string, ids: string[]): Promise<RunIo[]> {
  const keys = (await findRunKeys(clickhouse, tenantId, ids)).filter((key) => !key.deleted);
  if (keys.length === 0) return [];
  return clickhouse.rows<RunIo>({
    name: "datasets.run_io",
    query: `select id, inputs, outputs from runs final
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
