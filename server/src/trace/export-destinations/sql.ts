import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { DestinationConfig } from "./schema.ts";

const time = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')`;

const ITEM = `json_build_object('destination_type', 's3', 'display_name', d.display_name, 'config', d.config,
  'id', d.id, 'tenant_id', d.tenant_id, 'created_at', ${time("d.created_at")}, 'updated_at', ${time("d.updated_at")},
  'credentials_keys', to_json(d.credentials_keys))::text as item`;

export interface DestinationRow {
  id: string;
  tenant_id: string;
  config: DestinationConfig;
  credentials_keys: string[];
}

export async function insertDestination(
  sql: Sql | Transaction,
  destination: DestinationRow & { display_name: string },
): Promise<string> {
  const [row] = await sql<{ item: string }[]>`
    insert into export_destinations as d (id, tenant_id, display_name, config, credentials_keys)
    values (${destination.id}, ${destination.tenant_id}, ${destination.display_name}, ${JSON.stringify(destination.config)}::text::jsonb,
      ${destination.credentials_keys}::text[])
    returning ${sql.unsafe(ITEM)}`;
  return row!.item;
}

export async function getDestination(sql: Sql, tenantId: string, id: string): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    select ${sql.unsafe(ITEM)} from export_destinations d where d.tenant_id = ${tenantId} and d.id = ${id}`;
  return row?.item;
}

export async function listDestinations(
  sql: Sql,
  tenantId: string,
  page: { limit: number; offset: number },
): Promise<string> {
  const rows = await sql<{ item: string }[]>`
    select ${sql.unsafe(ITEM)} from export_destinations d where d.tenant_id = ${tenantId}
    order by d.created_at desc, d.id desc limit ${page.limit} offset ${page.offset}`;
  return `[${rows.map((row) => row.item).join(",")}]`;
}

export async function selectDestination(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
): Promise<DestinationRow | undefined> {
  const [row] = await sql<DestinationRow[]>`
    select id, tenant_id, config, credentials_keys from export_destinations
    where tenant_id = ${tenantId} and id = ${id}`;
  return row;
}

export async function updateCredentialsKeys(
  tx: Transaction,
  tenantId: string,
  id: string,
  keys: string[],
): Promise<string | undefined> {
  const [row] = await tx<{ item: string }[]>`
    update export_destinations d set credentials_keys = ${keys}::text[], updated_at = now()
    where d.tenant_id = ${tenantId} and d.id = ${id} returning ${tx.unsafe(ITEM)}`;
  return row?.item;
}

/**
 * Deletes a destination. @returns false when there is none; throws Postgres' foreign_key_violation while exports refer
 * to it
 */
export async function deleteDestinationRow(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
  const deleted = await tx`delete from export_destinations where tenant_id = ${tenantId} and id = ${id}`;
  return deleted.count > 0;
}
