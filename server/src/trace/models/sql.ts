import type { Sql, Transaction } from "../../base/db/connect.ts";
import { isoTime } from "../datasets/sql.ts";

export interface ConnectionRow {
  id: string;
  name: string;
  provider: string;
  settings: Record<string, string>;
  secrets: Record<string, string>;
  default_model: string | null;
  /** Model that embeds texts; null: the provider's first suggestion. */
  embedding_model: string | null;
  created_at: string;
  updated_at: string;
}

const COLUMNS = `id, name, provider, settings, secrets, default_model, embedding_model,
  ${isoTime("created_at")} as created_at, ${isoTime("updated_at")} as updated_at`;

export const listConnections = (sql: Sql, tenantId: string, limit: number): Promise<ConnectionRow[]> => sql<
  ConnectionRow[]
>`
  select ${sql.unsafe(COLUMNS)} from model_connections where tenant_id = ${tenantId} order by name limit ${limit}`;

export async function findConnection(sql: Sql, tenantId: string, id: string): Promise<ConnectionRow | undefined> {
  const [row] = await sql<ConnectionRow[]>`
    select ${sql.unsafe(COLUMNS)} from model_connections where tenant_id = ${tenantId} and id = ${id}`;
  return row;
}

export type NewConnection = Pick<
  ConnectionRow,
  "id" | "name" | "provider" | "settings" | "secrets" | "default_model" | "embedding_model"
>;

/** @returns undefined when the workspace already has `max` */
export async function insertConnection(
  sql: Sql | Transaction,
  tenantId: string,
  connection: NewConnection,
  max: number,
): Promise<ConnectionRow | undefined> {
  const { id, name, provider, settings, secrets, default_model: model, embedding_model: embedding } = connection;
  const [row] = await sql<ConnectionRow[]>`
    insert into model_connections (id, tenant_id, name, provider, settings, secrets, default_model,
      embedding_model)
    select ${id}, ${tenantId}, ${name}, ${provider}, ${JSON.stringify(settings)}::text::jsonb,
      ${JSON.stringify(secrets)}::text::jsonb, ${model}, ${embedding}
    where (select count(*) from model_connections where tenant_id = ${tenantId}) < ${max}
    returning ${sql.unsafe(COLUMNS)}`;
  return row;
}

export async function updateConnection(
  sql: Sql,
  tenantId: string,
  { id, name, settings, secrets, default_model: model, embedding_model: embedding }: NewConnection,
): Promise<ConnectionRow | undefined> {
  const [row] = await sql<ConnectionRow[]>`
    update model_connections set name = ${name}, settings = ${JSON.stringify(settings)}::text::jsonb,
      secrets = ${JSON.stringify(secrets)}::text::jsonb, default_model = ${model}, embedding_model = ${embedding},
      updated_at = now()
    where tenant_id = ${tenantId} and id = ${id}
    returning ${sql.unsafe(COLUMNS)}`;
  return row;
}

/** @returns false when there was none */
export async function deleteConnection(sql: Sql, tenantId: string, id: string): Promise<boolean> {
  const rows = await sql`delete from model_connections where tenant_id = ${tenantId} and id = ${id} returning 1`;
  return rows.length > 0;
}
