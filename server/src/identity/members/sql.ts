import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { GrantRow } from "../grant.ts";

export interface PersonGrantRow extends GrantRow {
  email: string;
  full_name: string | null;
}

/**
 * What a signed-in person may do in the workspace asked for; in the default or the oldest of theirs when none is.
 * Undefined when they are no member of any organisation that fits, disabled, or gone.
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

/** @returns the id of the membership: the new one, or the one that was there */
export async function insertOrganizationMember(
  sql: Sql | Transaction,
  member: NewMembership & { organization_id: string },
): Promise<{ id: string; made: boolean }> {
  const [made] = await sql<{ id: string }[]>`
    insert into organization_members (id, organization_id, user_id, role_id)
    values (${member.id}, ${member.organization_id}, ${member.user_id}, ${member.role_id})
    on conflict do nothing returning id`;
  if (made) return { id: made.id, made: true };
  const [known] = await sql<{ id: string }[]>`
    select id from organization_members
    where organization_id = ${member.organization_id} and user_id = ${member.user_id}`;
  return { id: known!.id, made: false };
}

/** @returns undefined when they are a member already */
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
