import type { Sql } from "../../base/db/connect.ts";

/**
 * Deletes the decisions of rules about deleted traces, in any project or in these: they name runs and threads. Served by
 * rule_matches_by_trace.
 */
export async function deleteDecisionsOfTraces(
  sql: Sql,
  tenantId: string,
  traces: readonly string[],
  projects?: readonly string[],
): Promise<void> {
  const gone = sql`tenant_id = ${tenantId} and trace_id = any(${traces as string[]}::text[]::uuid[])
    and ${projects ? sql`project_id = any(${projects as string[]}::text[]::uuid[])` : sql`true`}`;
  await sql`delete from rule_matches where ${gone}`;
  // a thread that waits is forgotten with its last trace
  await sql`delete from rule_threads where ${gone}`;
}

/** Deletes the decisions of rules about runs of deleted projects. Served by rule_matches_by_project. */
export async function deleteDecisionsOfProjects(
  sql: Sql,
  tenantId: string,
  projects: readonly string[],
): Promise<void> {
  const ids = projects as string[];
  await sql`delete from rule_matches where tenant_id = ${tenantId} and project_id = any(${ids}::text[]::uuid[])`;
  await sql`delete from rule_threads where tenant_id = ${tenantId} and project_id = any(${ids}::text[]::uuid[])`;
}
