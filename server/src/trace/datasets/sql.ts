import type { PendingQuery, Row } from "postgres";

import type { Sql, Transaction } from "../../base/db/connect.ts";
import { contains } from "../../base/db/containment.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { hasTags } from "../resource-tags/sql.ts";
import type { RunMapping, Transformation } from "./mapping-schema.ts";
import type { DatasetPatch, DatasetSearch } from "./schema.ts";

/** SQL that formats a column as ISO 8601 with microseconds and an offset: the SDKs compare it as a string and as a Date. */
export const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')`;

/** Columns of `datasets d` by wire name; `e` counts its experiments, `x` its examples. */
const COLUMNS = {
  id: "d.dataset_id",
  tenant_id: "d.tenant_id",
  name: "d.name",
  description: "d.description",
  data_type: "d.data_type",
  created_at: isoTime("d.created_at"),
  modified_at: isoTime("d.modified_at"),
  example_count: "x.example_count",
  session_count: "e.session_count",
  last_session_start_time: isoTime("e.last_session_start_time"),
  inputs_schema_definition: "d.inputs_schema_definition",
  outputs_schema_definition: "d.outputs_schema_definition",
  externally_managed: "false",
  transformations: "d.transformations",
  metadata: "d.metadata",
  baseline_experiment_id: "d.baseline_experiment_id",
};

const COUNTS = `
  left join lateral (select count(*)::int as session_count, max(p.start_time) as last_session_start_time
    from projects p
    where p.tenant_id = d.tenant_id and p.reference_dataset_id = d.dataset_id) e on true
  left join lateral (select count(*)::int as example_count
    from dataset_examples c
    where c.tenant_id = d.tenant_id and c.dataset_id = d.dataset_id and c.replaced_at is null) x on true`;

export interface DatasetRow {
  dataset_id: string;
  name: string;
  data_type: "kv" | "llm" | "chat";
  inputs_schema_definition: Record<string, unknown> | null;
  outputs_schema_definition: Record<string, unknown> | null;
  transformations: Transformation[] | null;
  run_mapping: RunMapping | null;
}

export interface NewDataset {
  dataset_id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  data_type: string;
  inputs_schema_definition: unknown;
  outputs_schema_definition: unknown;
  metadata: unknown;
  transformations: unknown;
  created_at: string;
}

/** @returns false when the workspace already has a dataset with this name or id */
export async function insertDataset(sql: Sql | Transaction, row: NewDataset): Promise<boolean> {
  const json = (value: unknown) => sql`nullif(${JSON.stringify(value ?? null)}::text::jsonb, 'null')`;
  const inserted = await sql`
    insert into datasets (dataset_id, tenant_id, name, description, data_type, inputs_schema_definition,
      outputs_schema_definition, metadata, transformations, created_at, modified_at)
    values (${row.dataset_id}, ${row.tenant_id}, ${row.name}, ${row.description}, ${row.data_type},
      ${json(row.inputs_schema_definition)}, ${json(row.outputs_schema_definition)}, ${json(row.metadata)},
      ${json(row.transformations)}, ${row.created_at}::text::timestamptz, date_trunc('milliseconds', clock_timestamp()))
    on conflict do nothing returning 1`;
  return inserted.length > 0;
}

/**
 * Selects the columns for internal use. With `lock`, no other transaction can write the dataset's examples until this
 * one ends.
 */
export async function findDatasetRow(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
  lock?: "lock",
): Promise<DatasetRow | undefined> {
  const [row] = await sql<DatasetRow[]>`
    select dataset_id, name, data_type, inputs_schema_definition, outputs_schema_definition, transformations, run_mapping
    from datasets where tenant_id = ${tenantId} and dataset_id = ${id} ${lock ? sql`for update` : sql``}`;
  return row;
}

export async function findDataset(sql: Sql, tenantId: string, id: string): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    select ${buildJsonObject(sql, COLUMNS)}::text as item from datasets d ${sql.unsafe(COUNTS)}
    where d.tenant_id = ${tenantId} and d.dataset_id = ${id}`;
  return row?.item;
}

/** Finds a dataset of any workspace by share token. */
export async function findSharedDataset(
  sql: Sql,
  shareToken: string,
): Promise<{ tenant_id: string; id: string; item: string } | undefined> {
  const [row] = await sql<{ tenant_id: string; id: string; item: string }[]>`
    select d.tenant_id, d.dataset_id as id, ${buildJsonObject(sql, COLUMNS)}::text as item
    from dataset_shares s join datasets d on d.tenant_id = s.tenant_id and d.dataset_id = s.dataset_id ${sql.unsafe(COUNTS)}
    where s.share_token = ${shareToken}`;
  return row;
}

const SORTABLE: Record<DatasetSearch["sort_by"], string> = {
  name: "d.name",
  created_at: "d.created_at",
  modified_at: "d.modified_at",
  last_session_start_time: "e.last_session_start_time",
  session_count: "e.session_count",
  example_count: "x.example_count",
};

/** @returns a JSON array */
export async function listDatasets(sql: Sql, tenantId: string, search: DatasetSearch): Promise<string> {
  const { id, name, name_contains: part, data_type: types, metadata, exclude } = search;
  const direction = search.sort_by_desc === false ? "asc nulls first" : "desc nulls last";
  const order = sql.unsafe(`${SORTABLE[search.sort_by]} ${direction}, d.created_at desc, d.dataset_id`);
  const names = Object.keys(COLUMNS).filter((column) => !exclude?.includes(column as "example_count"));
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(item), '[]')::text as items from (
      select ${buildJsonObject(sql, COLUMNS, names)} as item
      from datasets d ${sql.unsafe(COUNTS)}
      where d.tenant_id = ${tenantId}
        and ${id ? sql`d.dataset_id = any(${id}::uuid[])` : sql`true`}
        and ${name === undefined ? sql`true` : sql`d.name = ${name}`}
        and ${part ? sql`strpos(lower(d.name), lower(${part})) > 0` : sql`true`}
        and ${types ? sql`d.data_type = any(${types}::text[])` : sql`true`}
        and ${contains(sql, "d.metadata", metadata)}
        and ${hasTags(sql, tenantId, "d.dataset_id", search.tag_value_id)}
      order by ${order} limit ${search.limit} offset ${search.offset}) page`;
  return row!.items;
}

/** @returns false when there is no such dataset. @throws SQLSTATE 23505 when the name is already in use */
export async function updateDataset(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
  patch: DatasetPatch,
): Promise<boolean> {
  const newOrCurrent = (column: keyof DatasetPatch, value: PendingQuery<Row[]>) =>
    patch[column] === undefined ? sql`${sql.unsafe(column)}` : value;
  const json = (value: unknown) => sql`nullif(${JSON.stringify(value ?? null)}::text::jsonb, 'null')`;
  const rows = await sql`
    update datasets set modified_at = greatest(modified_at, date_trunc('milliseconds', clock_timestamp())),
      name = ${newOrCurrent("name", sql`${patch.name!}::text`)},
      description = ${newOrCurrent("description", sql`${patch.description!}::text`)},
      inputs_schema_definition = ${newOrCurrent("inputs_schema_definition", json(patch.inputs_schema_definition))},
      outputs_schema_definition = ${newOrCurrent("outputs_schema_definition", json(patch.outputs_schema_definition))},
      metadata = ${newOrCurrent("metadata", json(patch.metadata))},
      transformations = ${newOrCurrent("transformations", json(patch.transformations))},
      baseline_experiment_id = ${newOrCurrent("baseline_experiment_id", sql`${patch.baseline_experiment_id!}::uuid`)}
    where tenant_id = ${tenantId} and dataset_id = ${id} returning 1`;
  return rows.length > 0;
}

/** Selects a page of the current states of a dataset's examples, by id. */
export async function selectStates(
  sql: Sql | Transaction,
  tenantId: string,
  datasetId: string,
  after: string | null,
  limit: number,
): Promise<{ example_id: string; inputs: Record<string, unknown>; outputs: Record<string, unknown> | null }[]> {
  return sql<{ example_id: string; inputs: Record<string, unknown>; outputs: Record<string, unknown> | null }[]>`
    select example_id, inputs, outputs from dataset_examples
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and replaced_at is null
      and ${after === null ? sql`true` : sql`example_id > ${after}`}
    order by example_id limit ${limit}`;
}

/** Lists the attachment blobs of all examples of the datasets, to delete them with the datasets. */
export async function selectBlobs(sql: Sql | Transaction, tenantId: string, datasetIds: string[]): Promise<string[]> {
  const rows = await sql<{ blob: string }[]>`
    select distinct a.value ->> 'blob' as blob from dataset_examples x, jsonb_each(x.attachments) a
    where x.tenant_id = ${tenantId} and x.dataset_id = any(${datasetIds}::uuid[]) and x.attachments is not null`;
  return rows.map((row) => row.blob);
}

/** Deletes datasets with all versions, tags and shares. @returns the ids of the deleted datasets */
export async function deleteDatasets(sql: Sql | Transaction, tenantId: string, ids: string[]): Promise<string[]> {
  const rows = await sql<{ dataset_id: string }[]>`
    delete from datasets where tenant_id = ${tenantId} and dataset_id = any(${ids}::uuid[]) returning dataset_id`;
  return rows.map((row) => row.dataset_id);
}

/** Remembers how runs are mapped to examples of a dataset. @returns false when there is no such dataset */
export async function updateRunMapping(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
  mapping: RunMapping | null,
): Promise<boolean> {
  const rows = await sql`
    update datasets set run_mapping = nullif(${JSON.stringify(mapping)}::text::jsonb, 'null')
    where tenant_id = ${tenantId} and dataset_id = ${id} returning 1`;
  return rows.length > 0;
}
