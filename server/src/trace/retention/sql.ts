import type { Sql } from "../../base/db/connect.ts";
import type { Tier } from "../projects/sql.ts";

/** Lists deletions whose late runs have had time to arrive, oldest first. */
export async function findDeletions(
  sql: Sql,
  graceSeconds: number,
): Promise<{ tenant_id: string; project_id: string }[]> {
  return sql<{ tenant_id: string; project_id: string }[]>`
    select tenant_id, project_id from project_deletions
    where deleted_at < now() - make_interval(secs => ${graceSeconds})
    order by deleted_at limit 1000`;
}

export async function forgetDeletion(sql: Sql, tenantId: string, projectId: string): Promise<void> {
  await sql`delete from project_deletions where tenant_id = ${tenantId} and project_id = ${projectId}`;
}

export type ProjectTier = Tier & { tenant_id: string; project_id: string };

/** Lists a page of all projects that are not under legal hold, ordered by key. */
export async function listTiers(
  sql: Sql,
  after: { tenant_id: string; project_id: string },
  limit: number,
): Promise<ProjectTier[]> {
  return sql<ProjectTier[]>`
    select tenant_id, project_id, trace_tier, retention_days from projects p
    where (tenant_id, project_id) > (${after.tenant_id}::uuid, ${after.project_id}::uuid)
      and not exists (select from legal_holds h where h.tenant_id = p.tenant_id and h.released_at is null
        and (h.project_id is null or h.project_id = p.project_id))
    order by tenant_id, project_id limit ${limit}`;
}

/** Advisory lock of the sweep. Arbitrary, but unique to this purpose. */
export const SWEEP_LOCK = 7_236_523;
