import { notFound } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { readPage } from "../runs/bounded-page.ts";
import { loadScope } from "../runs/load-scope.ts";
import { lookUp } from "../runs/related.ts";
import type { SerializationContext } from "../runs/run-fields.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { planV1 } from "../runs/serialize-v1.ts";
import { listClusters, listSubtree } from "./cluster-sql.ts";
import { listRuns } from "./run-sql.ts";

/** Fields of runs; their inputs and outputs are shown by previews. */
const FIELDS = `end_time error inputs_preview outputs_preview thread_id tags total_tokens total_cost parent_run_id
  feedback_stats`.split(/\s+/);

export interface RunsRequest {
  cluster_id?: string | undefined;
  limit: number;
  offset: number;
  attribute_sort_order?: "asc" | "desc" | undefined;
}

/** Lists runs of a job, those that fit their cluster best first. Deleted ones are left out. @throws 404 */
export async function listRunsOfJob(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  jobId: string,
  { cluster_id, limit, offset, attribute_sort_order }: RunsRequest,
): Promise<{ runs: Record<string, unknown>[]; offset: number | null }> {
  const { sql } = deps;
  const { tenantId } = scope;
  const clusters = cluster_id === undefined ? undefined : await listSubtree(sql, tenantId, jobId, cluster_id);
  if (clusters?.length === 0) throw notFound("Insights cluster not found");
  const request = { clusters, limit: limit + 1, offset, descending: attribute_sort_order !== "asc" };
  const page = await listRuns(sql, tenantId, jobId, request);
  const rows = page.slice(0, limit);
  const names = new Map((await listClusters(sql, tenantId, jobId)).map(({ id, name }) => [id, name]));
  const found = await readById(deps, scope, context, rows);
  const runs = rows.flatMap(({ run_id, summary, cluster_id: id, similarity }) => {
    const run = found.get(run_id);
    if (!run) return [];
    const own = { cluster_id: id, cluster_name: id === null ? null : (names.get(id) ?? null), similarity };
    return [{ ...run, ...own, summary: summary === "" ? null : summary }];
  });
  return { runs, offset: page.length > limit ? offset + limit : null };
}

async function readById(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  rows: readonly { run_id: string; project_id: string; start_time: string }[],
): Promise<Map<string, Record<string, unknown>>> {
  if (rows.length === 0) return new Map();
  const selection = {
    projects: [...new Set(rows.map((row) => row.project_id))],
    ids: rows.map((row) => row.run_id),
    at: [...new Set(rows.map((row) => row.start_time))],
  };
  const loaded = await loadScope(deps, scope);
  const plan = planV1(FIELDS);
  const found = new Map<string, Record<string, unknown>>();
  const request = { columns: plan.columns, descending: true, limit: rows.length };
  for await (const batch of readPage(deps, loaded, selection, request, undefined)) {
    const related = await lookUp(deps, loaded, batch, plan.lookups);
    for (const row of batch) {
      found.set(row.id, JSON.parse(plan.print(row, related, context)) as Record<string, unknown>);
    }
  }
  return found;
}
