import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { RoleRights } from "./built-in.ts";

export interface RoleRow extends RoleRights {
  id: string;
  display_name: string;
  description: string;
  organization_id: string | null;
  access_scope: "organization" | "workspace";
}

const columns = (sql: Sql | Transaction) =>
  sql`id, organization_id, organization_id is null as built_in, name, display_name, description, access_scope, permissions`;

const visible = (sql: Sql | Transaction, organizationId: string) =>
  sql`(organization_id is null or organization_id = ${organizationId})`;

/** Lists built-in roles and the organization's own. */
export function selectRoles(sql: Sql, organizationId: string, limit = 1000): Promise<RoleRow[]> {
  return sql<RoleRow[]>`
    select ${columns(sql)} from roles where ${visible(sql, organizationId)}
    order by organization_id is not null, id limit ${limit}`;
}

export async function selectRole(
  sql: Sql | Transaction,
  organizationId: string,
  id: string,
): Promise<RoleRow | undefined> {
  const [row] = await sql<RoleRow[]>`
    select ${columns(sql)} from roles where id = ${id} and ${visible(sql, organizationId)}`;
  return row;
}

export interface RoleContent {
  display_name: string;
  description: string;
  permissions: string[];
  access_scope: RoleRow["access_scope"];
}

/** @returns undefined when the organization already has a role with this name */
export async function insertRole(
  sql: Sql,
  organizationId: string,
  role: RoleContent & { id: string },
): Promise<RoleRow | undefined> {
  const [row] = await sql<RoleRow[]>`
    insert into roles (id, organization_id, name, display_name, description, access_scope, permissions)
    values (${role.id}, ${organizationId}, 'CUSTOM', ${role.display_name}, ${role.description}, ${role.access_scope},
      ${role.permissions}::text[])
    on conflict do nothing returning ${columns(sql)}`;
  return row;
}

/** Updates a role within its scope, since people and keys hold it. */
export async function updateRole(
  sql: Sql,
  organizationId: string,
  id: string,
  role: RoleContent,
): Promise<RoleRow | undefined> {
  const [row] = await sql<RoleRow[]>`
    update roles set display_name = ${role.display_name}, description = ${role.description},
      permissions = ${role.permissions}::text[]
    where id = ${id} and organization_id = ${organizationId} and access_scope = ${role.access_scope}
    returning ${columns(sql)}`;
  return row;
}

/** Deletes a role. Throws SQLSTATE 23503 while it is assigned. */
export async function deleteRole(sql: Sql, organizationId: string, id: string): Promise<RoleRow | undefined> {
  const [row] = await sql<RoleRow[]>`
    delete from roles where id = ${id} and organization_id = ${organizationId} returning ${columns(sql)}`;
  return row;
}
