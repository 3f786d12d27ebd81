import type { PendingQuery, Row } from "postgres";

import type { Sql, Transaction } from "../../base/db/connect.ts";
import { contains } from "../../base/db/containment.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import type { ExampleSearch } from "./schema.ts";
import type { AsOf } from "../datasets/resolve-version.ts";
import { isoTime } from "../datasets/sql.ts";
import { digestInputs } from "./canonical-inputs.ts";

/** File of an example. `blob` is its key in the blob store, `size` is in bytes. */
export interface Attachment {
  blob: string;
  mime_type: string;
  size: number;
}

export type Attachments = Record<string, Attachment>;

/** State of an example to be written. Inputs and outputs are values; times are ISO text. */
export interface ExampleState {
  example_id: string;
  name: string;
  created_at: string | null;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown> | null;
  metadata: Record<string, unknown>;
  source_run_id: string | null;
  attachments: Attachments | null;
}

/** JSON of an example without its files, and the files. */
export interface ExampleItem {
  item: string;
  attachments: Attachments | null;
}

const COLUMNS = {
  id: "x.example_id",
  dataset_id: "x.dataset_id",
  name: "x.name",
  created_at: isoTime("x.created_at"),
  modified_at: isoTime("x.modified_at"),
  inputs: "x.inputs",
  outputs: "x.outputs",
  metadata: "x.metadata",
  source_run_id: "x.source_run_id",
};

/** Fields always returned: the SDKs read them unconditionally (includeAttachments selects no inputs). */
const REQUIRED = ["id", "dataset_id", "name", "created_at", "modified_at", "inputs", "source_run_id"];

/** @returns the inserted ids; taken ids are missing */
export async function insertExamples(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  asOf: string,
  states: ExampleState[],
): Promise<string[]> {
  const digested = states.map((state) => ({ ...state, inputs_digest: digestInputs(state.inputs) }));
  const rows = await tx<{ example_id: string }[]>`
    insert into dataset_examples (tenant_id, dataset_id, example_id, modified_at, name, created_at, inputs, outputs,
      metadata, source_run_id, attachments, inputs_digest)
    select ${tenantId}, ${datasetId}, example_id, ${asOf}::text::timestamptz, name,
      coalesce(created_at, ${asOf}::text::timestamptz), inputs, nullif(outputs::text, 'null')::json, metadata,
      source_run_id, nullif(attachments, 'null'), decode(inputs_digest, 'hex')
    from json_to_recordset(${JSON.stringify(digested)}::text::json) as new (example_id uuid, name text,
      created_at timestamptz, inputs json, outputs json, metadata jsonb, source_run_id uuid, attachments jsonb,
      inputs_digest text)
    on conflict do nothing returning example_id`;
  return rows.map((row) => row.example_id);
}

/** Ends the current states. @returns the ended states; fewer than requested when some do not exist */
export async function endExamples(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  asOf: string,
  ids: string[],
): Promise<ExampleState[]> {
  return tx<ExampleState[]>`
    update dataset_examples set replaced_at = ${asOf}::text::timestamptz
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and example_id = any(${ids}::uuid[])
      and replaced_at is null
    returning example_id, name, ${tx.unsafe(isoTime("created_at"))} as created_at, inputs, outputs, metadata,
      source_run_id, attachments`;
}

/** Returns the datasets of current examples; unknown examples are left out. */
export async function findExampleDatasets(
  sql: Sql | Transaction,
  tenantId: string,
  ids: string[],
): Promise<{ example_id: string; dataset_id: string }[]> {
  return sql<{ example_id: string; dataset_id: string }[]>`
    select example_id, dataset_id from dataset_examples
    where tenant_id = ${tenantId} and example_id = any(${ids}::uuid[]) and replaced_at is null
    order by dataset_id, example_id`;
}

/** Deletes all states. @returns the deleted states with their attachments, whose blobs are no longer needed */
export async function eraseExamples(
  tx: Transaction,
  tenantId: string,
  ids: string[],
): Promise<{ example_id: string; attachments: Attachments | null }[]> {
  return tx<{ example_id: string; attachments: Attachments | null }[]>`
    delete from dataset_examples where tenant_id = ${tenantId} and example_id = any(${ids}::uuid[])
    returning example_id, attachments`;
}

const stateAt = (sql: Sql, asOf: AsOf) =>
  asOf === "latest"
    ? sql`x.replaced_at is null`
    : sql`x.modified_at <= ${asOf.time}::text::timestamptz
        and (x.replaced_at is null or x.replaced_at > ${asOf.time}::text::timestamptz)`;

/** `condition` is the filter expression, compiled by compile-filter.ts. */
export interface ExampleQuery {
  id?: string[] | undefined;
  dataset?: string | undefined;
  as_of: AsOf;
  metadata?: Record<string, unknown> | undefined;
  full_text_contains?: string[] | undefined;
  splits?: string[] | undefined;
  condition?: PendingQuery<Row[]> | undefined;
}

/** Condition on `dataset_examples x`. */
export const matchingExamples = (sql: Sql, tenantId: string, query: ExampleQuery) => sql`
  x.tenant_id = ${tenantId} and ${stateAt(sql, query.as_of)}
  and ${query.dataset === undefined ? sql`true` : sql`x.dataset_id = ${query.dataset}`}
  and ${query.id === undefined ? sql`true` : sql`x.example_id = any(${query.id}::uuid[])`}
  and ${contains(sql, "x.metadata", query.metadata)}
  and ${query.splits === undefined ? sql`true` : sql`x.metadata -> 'dataset_split' ?| ${query.splits}::text[]`}
  and ${(query.full_text_contains ?? [])
    .map(jsonText)
    .reduce(
      (conditions, text) =>
        sql`${conditions} and strpos(lower(x.inputs::text || coalesce(x.outputs::text, '')), lower(${text})) > 0`,
      sql`true`,
    )}
  and ${query.condition ?? sql`true`}`;

/** Escapes a text as inside a JSON string. */
const jsonText = (text: string): string => JSON.stringify(text).slice(1, -1);

const orderBy = (sql: Sql, search: Pick<ExampleSearch, "order" | "descending" | "random_seed">) => {
  const direction = sql.unsafe((search.descending ?? search.order !== "id") ? "desc" : "asc");
  if (search.order === "id") return sql`x.example_id ${direction}`;
  if (search.order === "random") return sql`md5(x.example_id::text || ${search.random_seed ?? ""}), x.example_id`;
  if (search.order === "recently_created") return sql`x.created_at ${direction}, x.example_id ${direction}`;
  return sql`x.modified_at ${direction}, x.created_at ${direction}, x.example_id ${direction}`;
};

/**
 * Lists a page of examples. Finds the page by keys first, since serializing an example reads its inputs.
 * dataset_examples_in_dataset has the keys.
 */
export async function listExamples(
  sql: Sql,
  tenantId: string,
  query: ExampleQuery,
  search: Pick<ExampleSearch, "order" | "descending" | "random_seed" | "select" | "limit" | "offset">,
): Promise<ExampleItem[]> {
  const names = search.select ? [...REQUIRED, ...search.select] : Object.keys(COLUMNS);
  const files = search.select?.includes("attachment_urls") ?? false;
  const order = orderBy(sql, search);
  return sql<ExampleItem[]>`
    with page as materialized (
      select x.example_id, x.modified_at from dataset_examples x where ${matchingExamples(sql, tenantId, query)}
      order by ${order} limit ${search.limit} offset ${search.offset})
    select ${buildJsonObject(sql, COLUMNS, names)}::text as item, ${files ? sql`x.attachments` : sql`null`} as attachments
    from page p join dataset_examples x
      on x.tenant_id = ${tenantId} and x.example_id = p.example_id and x.modified_at = p.modified_at
    order by ${order}`;
}

export async function countExamples(sql: Sql, tenantId: string, query: ExampleQuery): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from dataset_examples x where ${matchingExamples(sql, tenantId, query)}`;
  return row!.n;
}

export async function findExample(
  sql: Sql,
  tenantId: string,
  id: string,
  asOf: AsOf,
): Promise<(ExampleItem & { dataset_id: string }) | undefined> {
  const [row] = await sql<(ExampleItem & { dataset_id: string })[]>`
    select x.dataset_id, ${buildJsonObject(sql, COLUMNS)}::text as item, x.attachments from dataset_examples x
    where x.tenant_id = ${tenantId} and x.example_id = ${id} and ${stateAt(sql, asOf)}`;
  return row;
}

export async function listSplits(sql: Sql, tenantId: string, datasetId: string, asOf: AsOf): Promise<string[]> {
  const rows = await sql<{ split: string }[]>`
    select distinct jsonb_array_elements_text(x.metadata -> 'dataset_split') as split from dataset_examples x
    where x.tenant_id = ${tenantId} and x.dataset_id = ${datasetId} and ${stateAt(sql, asOf)}
    order by 1 limit 1000`;
  return rows.map((row) => row.split);
}

/** Returns states as of a version, for copying. */
export async function selectStatesAt(
  sql: Sql,
  tenantId: string,
  query: ExampleQuery,
  limit: number,
): Promise<ExampleState[]> {
  return sql<ExampleState[]>`
    select x.example_id, x.name, null as created_at, x.inputs, x.outputs, x.metadata, x.source_run_id, x.attachments
    from dataset_examples x where ${matchingExamples(sql, tenantId, query)} order by x.example_id limit ${limit}`;
}

/** Returns the dataset that contains an example, or contained it last. */
export async function findExampleDataset(sql: Sql, tenantId: string, id: string): Promise<string | undefined> {
  const [row] = await sql<{ dataset_id: string }[]>`
    select dataset_id from dataset_examples where tenant_id = ${tenantId} and example_id = ${id}
    order by modified_at desc limit 1`;
  return row?.dataset_id;
}
