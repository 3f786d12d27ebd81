import type { Sql } from "../../base/db/connect.ts";

export interface ConfigRow {
  id: string;
  name: string;
  description: string | null;
  config: Record<string, unknown>;
}

const COLUMNS = "config_id as id, name, description, config";
/** Configs of a project, at most. */
export const MAX_CONFIGS = 100;

export const listConfigs = (sql: Sql, tenantId: string, projectId: string): Promise<ConfigRow[]> => sql<ConfigRow[]>`
  select ${sql.unsafe(COLUMNS)} from insight_configs
  where tenant_id = ${tenantId} and project_id = ${projectId} order by created_at, config_id limit ${MAX_CONFIGS}`;

export async function findConfig(
  sql: Sql,
  tenantId: string,
  projectId: string,
  id: string,
): Promise<ConfigRow | undefined> {
  const [row] = await sql<ConfigRow[]>`
    select ${sql.unsafe(COLUMNS)} from insight_configs
    where tenant_id = ${tenantId} and project_id = ${projectId} and config_id = ${id}`;
  return row;
}

/** @returns undefined when the project has the most that it may have */
export async function insertConfig(
  sql: Sql,
  tenantId: string,
  projectId: string,
  { id, name, description, config }: ConfigRow,
): Promise<ConfigRow | undefined> {
  const [row] = await sql<ConfigRow[]>`
    insert into insight_configs (tenant_id, config_id, project_id, name, description, config)
    select ${tenantId}, ${id}, ${projectId}, ${name}, ${description}, ${JSON.stringify(config)}::text::jsonb
    where (select count(*) from insight_configs where tenant_id = ${tenantId} and project_id = ${projectId})
      < ${MAX_CONFIGS}
    returning ${sql.unsafe(COLUMNS)}`;
  return row;
}

/** Replaces the fields that are given. */
export async function updateConfig(
  sql: Sql,
  tenantId: string,
  projectId: string,
  {
    id,
    name,
    description,
    config,
  }: {
    id: string;
    name?: string | null | undefined;
    description?: string | null | undefined;
    config?: object | null | undefined;
  },
): Promise<ConfigRow | undefined> {
  const [row] = await sql<ConfigRow[]>`
    update insight_configs set name = coalesce(${name ?? null}, name),
      description = case when ${description !== undefined} then ${description ?? null} else description end,
      config = coalesce(${config == null ? null : JSON.stringify(config)}::text::jsonb, config), updated_at = now()
    where tenant_id = ${tenantId} and project_id = ${projectId} and config_id = ${id}
    returning ${sql.unsafe(COLUMNS)}`;
  return row;
}

export const deleteConfig = async (sql: Sql, tenantId: string, projectId: string, id: string): Promise<boolean> =>
  (
    await sql`
      delete from insight_configs where tenant_id = ${tenantId} and project_id = ${projectId} and config_id = ${id}
      returning 1`
  ).length > 0;
