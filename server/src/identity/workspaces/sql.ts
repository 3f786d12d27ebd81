import type { Plan } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { RoleRights } from "../roles/built-in.ts";

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

/** Returns undefined for a deleted workspace. */
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
  workspace: Omit<WorkspaceRow, "created_at" | "deleted_at">,
): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    insert into workspaces (id, organization_id, display_name, tenant_handle, plan, is_default)
    values (${workspace.id}, ${workspace.organization_id}, ${workspace.display_name}, ${workspace.tenant_handle}, ${workspace.plan}, ${workspace.is_default})
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

/**
 * Gives a workspace a handle, unless it has another one. @returns undefined then. @throws SQLSTATE 23505 when another
 * workspace has it
 */
export async function setWorkspaceHandle(
  sql: Sql | Transaction,
  id: string,
  handle: string,
): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    update workspaces set tenant_handle = ${handle}
    where id = ${id} and deleted_at is null and (tenant_handle is null or tenant_handle = ${handle}) returning *`;
  return row;
}

/** @returns undefined when there is no such workspace, or it is the default one */
export async function markWorkspaceDeleted(sql: Sql | Transaction, id: string): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    update workspaces set deleted_at = now(), tenant_handle = null
    where id = ${id} and deleted_at is null and not is_default returning *`;
  return row;
}

/** Lists workspaces of the whole platform, except deleted ones. */
export function selectAllWorkspaces(sql: Sql, limit = 10_000): Promise<WorkspaceRow[]> {
  return sql<WorkspaceRow[]>`
    select * from workspaces where deleted_at is null order by created_at, id limit ${limit}`;
}

export async function selectWorkspaceIds(sql: Sql, organizationId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from workspaces where organization_id = ${organizationId} and deleted_at is null`;
  return rows.map(({ id }) => id);
}

export async function selectWorkspaceIdsOfUser(sql: Sql, organizationId: string, userId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from workspaces_of_user(${userId}) where organization_id = ${organizationId}`;
  return rows.map(({ id }) => id);
}

/** Caller: a key, a person (possibly through a key), or, with neither, a loopback caller. */
export interface WorkspaceViewer {
  keyId: string | null;
  userId: string | null;
  /** Restricts the list to this organization. */
  organizationId: string | null;
  includeDeleted: boolean;
}

export interface VisibleWorkspaceRow {
  id: string;
  organization_id: string;
  display_name: string;
  tenant_handle: string | null;
  created_at: Date;
  is_deleted: boolean;
  plan: Plan;
  read_only: boolean;
  role_id: string | null;
  role_name: string | null;
  rights: RoleRights | null;
}

/** Lists the workspaces that the caller may enter, with their role. */
export function selectVisibleWorkspaces(
  sql: Sql,
  viewer: WorkspaceViewer,
  limit = 1000,
): Promise<VisibleWorkspaceRow[]> {
  return sql<VisibleWorkspaceRow[]>`
    select w.id, w.organization_id, w.display_name, w.tenant_handle, w.created_at, w.deleted_at is not null as is_deleted,
      w.plan, coalesce(k.read_only, false) or coalesce(wm.read_only, false) as read_only,
      r.id as role_id, r.display_name as role_name, role_rights(r.id) as rights
    from workspaces w
    left join api_keys k on k.id = ${viewer.keyId}
    left join workspace_members wm on wm.user_id = ${viewer.userId} and wm.workspace_id = w.id
    left join organization_members om on om.user_id = ${viewer.userId} and om.organization_id = w.organization_id
    left join roles r on r.id = coalesce(k.role_id, wm.role_id, om.role_id)
    where (${viewer.organizationId}::uuid is null or w.organization_id = ${viewer.organizationId})
      and (${viewer.includeDeleted} or w.deleted_at is null)
      and (${viewer.keyId}::uuid is null or (k.organization_id = w.organization_id and (k.all_workspaces or exists (
        select 1 from api_key_workspaces b where b.key_id = k.id and b.workspace_id = w.id))))
      and (${viewer.userId}::uuid is null or w.id in (select id from workspaces_of_user(${viewer.userId})))
    order by w.created_at, w.id limit ${limit}`;
}

/** Workspace that owns this database's threads and runs. */
export interface OwnerRow {
  workspace_id: string;
  claimed_at: Date;
}

/** Returns undefined while no agent server has started on this database. */
export async function selectOwner(sql: Sql | Transaction): Promise<OwnerRow | undefined> {
  const [row] = await sql<OwnerRow[]>`select workspace_id, claimed_at from database_owner`;
  return row;
}

/** Returns the owner: the given workspace, or the workspace that claimed the database first. */
export async function insertOwner(sql: Sql | Transaction, workspaceId: string): Promise<OwnerRow> {
  const [row] = await sql<OwnerRow[]>`
    insert into database_owner (workspace_id) values (${workspaceId})
    on conflict (only_row) do update set workspace_id = database_owner.workspace_id
    returning workspace_id, claimed_at`;
  return row!;
}

/** Replaces the owning workspace. */
export async function replaceOwner(sql: Sql | Transaction, workspaceId: string): Promise<void> {
  await sql`
    insert into database_owner (workspace_id) values (${workspaceId})
    on conflict (only_row) do update set workspace_id = excluded.workspace_id, claimed_at = now()`;
}
