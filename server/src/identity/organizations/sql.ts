import type { Sql, Transaction } from "../../base/db/connect.ts";

export interface OrganizationRow {
  id: string;
  display_name: string;
  created_at: Date;
  modified_at: Date;
}

export async function insertOrganization(
  sql: Sql | Transaction,
  organization: { id: string; display_name: string },
): Promise<OrganizationRow> {
  const [row] = await sql<OrganizationRow[]>`
    insert into organizations (id, display_name) values (${organization.id}, ${organization.display_name}) returning *`;
  return row!;
}

export async function selectOrganization(sql: Sql | Transaction, id: string): Promise<OrganizationRow | undefined> {
  const [row] = await sql<OrganizationRow[]>`select * from organizations where id = ${id}`;
  return row;
}

export async function updateOrganization(
  sql: Sql | Transaction,
  id: string,
  changes: { display_name: string },
): Promise<OrganizationRow | undefined> {
  const [row] = await sql<OrganizationRow[]>`
    update organizations set display_name = ${changes.display_name}, modified_at = now() where id = ${id} returning *`;
  return row;
}

export function selectOrganizationsOfUser(sql: Sql, userId: string, limit = 1000): Promise<OrganizationRow[]> {
  return sql<OrganizationRow[]>`
    select o.* from organizations o join organization_members m on m.organization_id = o.id
    where m.user_id = ${userId} order by m.created_at, m.id limit ${limit}`;
}
