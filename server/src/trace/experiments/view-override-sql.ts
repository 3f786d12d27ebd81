import type { Sql } from "../../base/db/connect.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { isoTime } from "../datasets/sql.ts";

const COLUMNS = {
  id: "v.override_id",
  dataset_id: "v.dataset_id",
  column_overrides: "v.column_overrides",
  created_at: isoTime("v.created_at"),
  modified_at: isoTime("v.modified_at"),
};

export async function listOverrides(sql: Sql, tenantId: string, datasetId: string): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(${buildJsonObject(sql, COLUMNS)}), '[]')::text as items
    from experiment_view_overrides v where v.tenant_id = ${tenantId} and v.dataset_id = ${datasetId}`;
  return row!.items;
}

export async function findOverride(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  id: string,
): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    select ${buildJsonObject(sql, COLUMNS)}::text as item from experiment_view_overrides v
    where v.tenant_id = ${tenantId} and v.dataset_id = ${datasetId} and v.override_id = ${id}`;
  return row?.item;
}

/** @returns undefined when the dataset already has an override */
export async function insertOverride(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  id: string,
  overrides: object[],
): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    insert into experiment_view_overrides as v (tenant_id, override_id, dataset_id, column_overrides)
    values (${tenantId}, ${id}, ${datasetId}, ${JSON.stringify(overrides)}::text::jsonb)
    on conflict do nothing returning ${buildJsonObject(sql, COLUMNS)}::text as item`;
  return row?.item;
}

export async function updateOverride(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  id: string,
  overrides: object[],
): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    update experiment_view_overrides v set column_overrides = ${JSON.stringify(overrides)}::text::jsonb, modified_at = now()
    where v.tenant_id = ${tenantId} and v.dataset_id = ${datasetId} and v.override_id = ${id}
    returning ${buildJsonObject(sql, COLUMNS)}::text as item`;
  return row?.item;
}

/** @returns false when there was none */
export async function deleteOverride(sql: Sql, tenantId: string, datasetId: string, id: string): Promise<boolean> {
  const deleted = await sql`
    delete from experiment_view_overrides
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and override_id = ${id} returning 1`;
  return deleted.length > 0;
}
