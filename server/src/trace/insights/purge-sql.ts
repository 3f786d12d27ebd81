import type { Sql } from "../../base/db/connect.ts";

/** Deletes the vectors and summaries of deleted traces, in any project or in these. Names and counts of clusters stay. */
export async function deleteInsightsOfTraces(
  sql: Sql,
  tenantId: string,
  traceIds: readonly string[],
  projects?: readonly string[],
): Promise<void> {
  await sql`
    with gone as (
      delete from insight_runs where tenant_id = ${tenantId} and trace_id = any(${traceIds as string[]}::uuid[])
        and ${projects ? sql`project_id = any(${projects as string[]}::uuid[])` : sql`true`}
      returning job_id, run_id
    )
    update insight_jobs j set report = jsonb_set(report, '{highlighted_traces}', coalesce((
        select jsonb_agg(h) from jsonb_array_elements(j.report->'highlighted_traces') h
        where (h->>'run_id')::uuid not in (select run_id from gone)), '[]'))
    where j.tenant_id = ${tenantId} and j.report is not null and j.job_id in (select job_id from gone)`;
}
