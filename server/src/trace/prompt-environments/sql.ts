import type { Sql } from "../../base/db/connect.ts";

interface EnvironmentsRow {
  id: string;
  environments: string[];
}

const ROW = "model_id as id, environments";

export async function selectEnvironments(sql: Sql, tenantId: string): Promise<EnvironmentsRow | undefined> {
  const [row] = await sql<EnvironmentsRow[]>`
    select ${sql.unsafe(ROW)} from prompt_environments where tenant_id = ${tenantId}`;
  return row;
}

/** @returns undefined when the workspace has a configuration */
export async function insertEnvironments(
  sql: Sql,
  tenantId: string,
  id: string,
  names: string[],
): Promise<EnvironmentsRow | undefined> {
  const [row] = await sql<EnvironmentsRow[]>`
    insert into prompt_environments (tenant_id, model_id, environments) values (${tenantId}, ${id}, ${names}::text[])
    on conflict do nothing returning ${sql.unsafe(ROW)}`;
  return row;
}

export async function updateEnvironments(
  sql: Sql,
  tenantId: string,
  id: string,
  names: string[],
): Promise<EnvironmentsRow | undefined> {
  const [row] = await sql<EnvironmentsRow[]>`
    update prompt_environments set environments = ${names}::text[], updated_at = now()
    where tenant_id = ${tenantId} and model_id = ${id} returning ${sql.unsafe(ROW)}`;
  return row;
}

export async function deleteEnvironments(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  const rows = await sql`
    delete from prompt_environments where tenant_id = ${tenantId} and model_id = ${id} returning 1`;
  return rows.length > 0;
}
