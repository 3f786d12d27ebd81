import type { Plan } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface WorkspaceRow {
  id: string;
  organization_id: string;
  display_name: string;
  tenant_handle: string | null;
  plan: Plan;
  is_default: boolean;
  created_at: Date;
  deleted_at: Date | null;
}

/** Undefined when it was deleted. */
export async function selectWorkspace(sql: Sql | Transaction, id: string): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`select * from workspaces where id = ${id} and deleted_at is null`;
  return row;
}

export async function selectDefaultWorkspace(sql: Sql | Transaction): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`select * from workspaces where is_default`;
  return row;
}

/** @returns undefined when the id or the handle is taken */
export async function insertWorkspace(
  sql: Sql | Transaction,
  one: Omit<WorkspaceRow, "created_at" | "deleted_at">,
): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    insert into workspaces (id, organization_id, display_name, tenant_handle, plan, is_default)
    values (${one.id}, ${one.organization_id}, ${one.display_name}, ${one.tenant_handle}, ${one.plan}, ${one.is_default})
    on conflict do nothing returning *`;
  return row;
}

export async function updateWorkspace(
  sql: Sql | Transaction,
  id: string,
  changes: { display_name: string | null; plan: Plan | null },
): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    update workspaces set
      display_name = coalesce(${changes.display_name}, display_name), plan = coalesce(${changes.plan}, plan)
    where id = ${id} and deleted_at is null returning *`;
  return row;
}

/** @returns undefined when there is no such workspace, or it is the default one */
export async function markWorkspaceDeleted(sql: Sql | Transaction, id: string): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    update workspaces set deleted_at = now(), tenant_handle = null
    where id = ${id} and deleted_at is null and not is_default returning *`;
  return row;
}
