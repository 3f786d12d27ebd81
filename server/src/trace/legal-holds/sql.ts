import { utcText } from "../../base/db/utc-text.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface Hold {
  id: string;
  session_id: string | null;
  reason: string;
  created_by: string;
  created_at: string;
  released_by: string | null;
  released_at: string | null;
}

const WIRE = `hold_id as id, project_id as session_id, reason, created_by, ${utcText("created_at")} as created_at,
  released_by, ${utcText("released_at")} as released_at`;

/** @returns undefined when the project does not exist */
export async function insertHold(
  sql: Sql | Transaction,
  row: { id: string; tenantId: string; projectId: string | null; reason: string; by: string },
): Promise<Hold | undefined> {
  const [created] = await sql<Hold[]>`
    insert into legal_holds (hold_id, tenant_id, project_id, reason, created_by)
    select ${row.id}, ${row.tenantId}, ${row.projectId}::uuid, ${row.reason}, ${row.by}
    where ${row.projectId}::uuid is null
      or exists (select from projects where tenant_id = ${row.tenantId} and project_id = ${row.projectId}::uuid)
    returning ${sql.unsafe(WIRE)}`;
  return created;
}

export const listHolds = (sql: Sql, tenantId: string, active: boolean | undefined): Promise<Hold[]> => sql<Hold[]>`
  select ${sql.unsafe(WIRE)} from legal_holds
  where tenant_id = ${tenantId} and ${active === undefined ? sql`true` : sql`(released_at is null) = ${active}`}
  order by created_at desc, hold_id desc limit 1000`;

/** Releases a hold. Releasing it again changes nothing. */
export async function releaseHold(sql: Sql, tenantId: string, id: string, by: string): Promise<Hold | undefined> {
  const [row] = await sql<Hold[]>`
    update legal_holds set released_at = coalesce(released_at, now()), released_by = coalesce(released_by, ${by})
    where tenant_id = ${tenantId} and hold_id = ${id} returning ${sql.unsafe(WIRE)}`;
  return row;
}

/** Returns the active holds of a workspace, of projects and of the whole. Served by legal_holds_active. */
export const activeHolds = (
  sql: Sql | Transaction,
  tenantId: string,
): Promise<{ id: string; project_id: string | null; reason: string }[]> => sql`
  select hold_id as id, project_id, reason from legal_holds where tenant_id = ${tenantId} and released_at is null`;
