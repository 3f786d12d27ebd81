import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { findRunKeys, RUN_LATENCY } from "../run-rows/clickhouse.ts";

/** Run as the playground opens it; its fields are JSON text. */
export interface CallRow {
  id: string;
  project_id: string;
  name: string;
  run_type: string;
  inputs: string | null;
  outputs: string | null;
  extra: string | null;
  error: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  prompt_cost: string | null;
  completion_cost: string | null;
  total_cost: string | null;
  latency_ms: number | null;
}

const COLUMNS = `id, project_id, name, run_type, inputs, outputs, extra, error,
  toFloat64(prompt_tokens) as prompt_tokens, toFloat64(completion_tokens) as completion_tokens,
  toFloat64(total_tokens) as total_tokens, toString(prompt_cost) as prompt_cost,
  toString(completion_cost) as completion_cost, toString(total_cost) as total_cost,
  floor(${RUN_LATENCY} * 1000) as latency_ms`;

/**
 * Finds a run that calls a model: the given one, else the first such run below it. The key locates both, so only granules
 * of the trace's project are read.
 */
export async function findCall(clickhouse: ClickHouse, tenantId: string, id: string): Promise<CallRow | undefined> {
  const [key] = await findRunKeys(clickhouse, tenantId, [id]);
  if (!key || key.deleted) return undefined;
  const params = { tenant: tenantId, project: key.project_id, time: key.start_time, trace: key.trace_id, id };
  const [own] = await clickhouse.rows<CallRow & { dotted_order: string }>({
    name: "playground.run",
    query: `select ${COLUMNS}, dotted_order from runs final
      where tenant_id = {tenant:UUID} and project_id = {project:UUID} and start_time = {time:DateTime64(6, 'UTC')}
        and id = {id:UUID}`,
    params,
  });
  if (!own || own.run_type === "llm") return own;
  const [below] = await clickhouse.rows<CallRow>({
    name: "playground.first_call",
    query: `select ${COLUMNS} from runs final
      where tenant_id = {tenant:UUID} and project_id = {project:UUID} and trace_id = {trace:UUID} and run_type = 'llm'
        and start_time >= {time:DateTime64(6, 'UTC')} and startsWith(dotted_order, {order:String})
      order by dotted_order limit 1`,
    params: { ...params, order: own.dotted_order },
  });
  return below ?? own;
}
