import type { Sql, Transaction } from "../../base/db/connect.ts";

/** Deletes the feedback on deleted runs, and the tokens to give more. The trigger removes it from ClickHouse too. */
export async function deleteFeedbackOfProjects(
  sql: Sql,
  tenantId: string,
  projectIds: readonly string[],
): Promise<void> {
  await sql`
    with gone as (
      delete from feedback where tenant_id = ${tenantId} and session_id = any(${projectIds}::uuid[]) returning run_id
    )
    delete from feedback_tokens where tenant_id = ${tenantId} and run_id in (select run_id from gone)`;
}

/** `projects`: only that on runs in these, or on runs that have not arrived. */
export async function deleteFeedbackOfTraces(
  sql: Sql | Transaction,
  tenantId: string,
  traceIds: readonly string[],
  projects?: readonly string[],
): Promise<void> {
  await sql`
    with gone as (
      -- feedback that arrived before its root has no trace id yet
      delete from feedback where tenant_id = ${tenantId}
        and (trace_id = any(${traceIds}::uuid[]) or run_id = any(${traceIds}::uuid[]))
        and ${projects ? sql`(session_id is null or session_id = any(${projects as string[]}::uuid[]))` : sql`true`}
      returning run_id
    )
    delete from feedback_tokens
    where tenant_id = ${tenantId} and (run_id = any(${traceIds}::uuid[]) or run_id in (select run_id from gone))`;
}
