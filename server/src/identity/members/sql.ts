import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { GrantRow } from "../grant.ts";

export interface PersonGrantRow extends GrantRow {
  email: string;
  full_name: string | null;
}

/**
 * Resolves the rights of a signed-in person in the requested workspace; without a request in the default workspace, or
 * their oldest. Returns undefined when they are disabled, deleted, or not a member of a matching organization.
 */
export async function selectPersonGrant(
  sql: Sql,
  userId: string,
  workspaceId: string | null,
): Promise<PersonGrantRow | undefined> {
  const [row] = await sql<PersonGrantRow[]>`
    select u.email, u.full_name, om.organization_id, ${workspaceId}::uuid is not null or w.id is not null as names_workspace,
      w.id as workspace_id, w.plan, role_rights(om.role_id) as organization_role,
      role_rights(wm.role_id) as workspace_role, null::jsonb as key_role, null::jsonb as key_organization_role,
      coalesce(wm.read_only, false) as read_only
    from users u
    join organization_members om on om.user_id = u.id
    left join lateral (
      select mine.id, mine.plan from workspaces_of_user(u.id) mine
      where mine.organization_id = om.organization_id and mine.id = coalesce(${workspaceId}::uuid, mine.id)
      order by mine.is_default desc, mine.created_at, mine.id limit 1
    ) w on true
    left join workspace_members wm on wm.workspace_id = w.id and wm.user_id = u.id
    where u.id = ${userId} and u.disabled_at is null
    order by w.id is null, om.created_at, om.id
    limit 1`;
  return row;
}

export interface UserRow {
  id: string;
  email: string;
  full_name: string | null;
  created_at: Date;
  updated_at: Date;
  disabled_at: Date | null;
}

/** @returns undefined when the address is taken. `email` in lower case. */
export async function insertUser(
  sql: Sql | Transaction,
  user: { id: string; email: string; full_name: string | null },
): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    insert into users (id, email, full_name) values (${user.id}, ${user.email}, ${user.full_name})
    on conflict do nothing returning *`;
  return row;
}

export async function selectUserByEmail(sql: Sql | Transaction, email: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`select * from users where email = lower(${email})`;
  return row;
}

export async function selectUser(sql: Sql | Transaction, id: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`select * from users where id = ${id}`;
  return row;
}

export interface NewMembership {
  id: string;
  user_id: string;
  role_id: string;
}

/** @returns the id of the new or existing membership */
export async function insertOrganizationMember(
  sql: Sql | Transaction,
  member: NewMembership & { organization_id: string },
): Promise<{ id: string; created: boolean }> {
  const [created] = await sql<{ id: string }[]>`
    insert into organization_members (id, organization_id, user_id, role_id)
    values (${member.id}, ${member.organization_id}, ${member.user_id}, ${member.role_id})
    on conflict do nothing returning id`;
  if (created) return { id: created.id, created: true };
  const [known] = await sql<{ id: string }[]>`
    select id from organization_members
    where organization_id = ${member.organization_id} and user_id = ${member.user_id}`;
  return { id: known!.id, created: false };
}

/** @returns undefined when they are already a member */
export async function insertWorkspaceMember(
  sql: Sql | Transaction,
  member: NewMembership & { workspace_id: string; read_only: boolean },
): Promise<{ id: string } | undefined> {
  const [row] = await sql<{ id: string }[]>`
    insert into workspace_members (id, workspace_id, user_id, role_id, read_only)
    values (${member.id}, ${member.workspace_id}, ${member.user_id}, ${member.role_id}, ${member.read_only})
    on conflict do nothing returning id`;
  return row;
}

export interface NewInvitation {
  id: string;
  organization_id: string;
  email: string;
  full_name: string | null;
  organization_role_id: string;
  workspace_ids: string[];
  workspace_role_id: string | null;
  read_only: boolean;
}

/** Inserts an invitation, or replaces the previous one for the same address. */
export async function upsertInvitation(sql: Sql | Transaction, invitation: NewInvitation): Promise<{ id: string }> {
  const [row] = await sql<{ id: string }[]>`
    insert into invitations (id, organization_id, email, full_name, organization_role_id, workspace_ids,
      workspace_role_id, read_only)
    values (${invitation.id}, ${invitation.organization_id}, ${invitation.email}, ${invitation.full_name}, ${invitation.organization_role_id},
      ${invitation.workspace_ids}::uuid[], ${invitation.workspace_role_id}, ${invitation.read_only})
    on conflict (organization_id, email) do update set full_name = excluded.full_name,
      organization_role_id = excluded.organization_role_id, workspace_ids = excluded.workspace_ids,
      workspace_role_id = excluded.workspace_role_id, read_only = excluded.read_only
    returning id`;
  return row!;
}

/** Deletes the invitations of an address. @returns the deleted rows */
export function takeInvitations(sql: Sql | Transaction, email: string): Promise<NewInvitation[]> {
  return sql<NewInvitation[]>`delete from invitations where email = ${email} returning *`;
}

export async function deleteInvitation(
  sql: Sql,
  organizationId: string,
  workspaceId: string | null,
  id: string,
): Promise<boolean> {
  // a workspace may revoke only invitations to itself alone
  const { count } = await sql`
    delete from invitations where id = ${id} and organization_id = ${organizationId}
      and (${workspaceId}::uuid is null or workspace_ids = array[${workspaceId}]::uuid[])`;
  return count > 0;
}

/** Finds a member by the id of the membership, of the person, or either. */
export async function selectOrganizationMember(
  sql: Sql | Transaction,
  organizationId: string,
  selector: { id?: string | undefined; userId?: string | undefined },
): Promise<{ id: string; user_id: string; role_id: string } | undefined> {
  const [row] = await sql<{ id: string; user_id: string; role_id: string }[]>`
    select id, user_id, role_id from organization_members
    where organization_id = ${organizationId} and (id = ${selector.id ?? null} or user_id = ${selector.userId ?? null})`;
  return row;
}

export async function updateOrganizationMember(sql: Sql | Transaction, id: string, roleId: string): Promise<void> {
  await sql`update organization_members set role_id = ${roleId} where id = ${id}`;
}

export async function updateUserName(sql: Sql | Transaction, userId: string, fullName: string): Promise<void> {
  await sql`update users set full_name = ${fullName}, updated_at = now() where id = ${userId}`;
}

/** Removes a person from the organization and all its workspaces. */
export async function deleteOrganizationMember(
  sql: Transaction,
  organizationId: string,
  userId: string,
): Promise<void> {
  await sql`
    delete from workspace_members m using workspaces w
    where w.id = m.workspace_id and w.organization_id = ${organizationId} and m.user_id = ${userId}`;
  await sql`delete from organization_members where organization_id = ${organizationId} and user_id = ${userId}`;
}

/** Counts the organization's members with this role whose account is not disabled. */
export async function countWithRole(sql: Sql | Transaction, organizationId: string, roleId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from organization_members m join users u on u.id = m.user_id
    where m.organization_id = ${organizationId} and m.role_id = ${roleId} and u.disabled_at is null`;
  return row!.count;
}

export async function updateWorkspaceMember(
  sql: Sql,
  workspaceId: string,
  id: string,
  changes: { role_id: string; read_only: boolean | null },
): Promise<boolean> {
  const { count } = await sql`
    update workspace_members set role_id = ${changes.role_id}, read_only = coalesce(${changes.read_only}, read_only)
    where id = ${id} and workspace_id = ${workspaceId}`;
  return count > 0;
}

export async function deleteWorkspaceMember(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  const { count } = await sql`delete from workspace_members where id = ${id} and workspace_id = ${workspaceId}`;
  return count > 0;
}
