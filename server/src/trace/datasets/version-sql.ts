import type { Sql, Transaction } from "../../base/db/connect.ts";
import { isoTime } from "./sql.ts";

/**
 * Begins a version, strictly after the last one, in whole milliseconds. The dataset's row must be locked. Uses the
 * clock, not the transaction's start: a transaction that waited for the lock comes later.
 *
 * @returns its time as ISO text
 */
export async function beginVersion(tx: Transaction, tenantId: string, datasetId: string): Promise<string> {
  const [row] = await tx<{ as_of: string }[]>`
    with version as (
      insert into dataset_versions (tenant_id, dataset_id, as_of)
      select ${tenantId}, ${datasetId}, greatest(date_trunc('milliseconds', clock_timestamp()), (
        select max(as_of) + interval '1 millisecond' from dataset_versions
        where tenant_id = ${tenantId} and dataset_id = ${datasetId}))
      returning as_of
    ), touched as (
      update datasets set modified_at = as_of from version where tenant_id = ${tenantId} and dataset_id = ${datasetId}
    )
    select ${tx.unsafe(isoTime("as_of"))} as as_of from version`;
  return row!.as_of;
}

export interface VersionRow {
  as_of: string;
  tags: string[];
}

// the newest version has the implicit tag "latest", which moves by itself
const TAGS = `coalesce((select json_agg(t.tag order by t.tag) from dataset_tags t
    where t.tenant_id = v.tenant_id and t.dataset_id = v.dataset_id and t.as_of = v.as_of), '[]')::jsonb
  || case when not exists (select 1 from dataset_versions n where n.tenant_id = v.tenant_id
      and n.dataset_id = v.dataset_id and n.as_of > v.as_of) then '["latest"]'::jsonb else '[]'::jsonb end`;

const COLUMNS = `${isoTime("v.as_of")} as as_of, ${TAGS} as tags`;

/** Lists versions, newest first. `example` restricts them to versions in which it began, changed or ended. */
export async function listVersions(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  query: { search?: string | undefined; example?: string | undefined; limit: number; offset: number },
): Promise<VersionRow[]> {
  const { search, example } = query;
  return sql<VersionRow[]>`
    select ${sql.unsafe(COLUMNS)} from dataset_versions v
    where v.tenant_id = ${tenantId} and v.dataset_id = ${datasetId}
      and ${
        search
          ? sql`exists (select 1 from jsonb_array_elements_text(${sql.unsafe(TAGS)}) tag
              where strpos(lower(tag), lower(${search})) > 0)`
          : sql`true`
      }
      and ${
        example
          ? sql`exists (select 1 from dataset_examples x where x.tenant_id = ${tenantId} and x.example_id = ${example}
              and x.dataset_id = v.dataset_id and (x.modified_at = v.as_of or x.replaced_at = v.as_of))`
          : sql`true`
      }
    order by v.as_of desc limit ${query.limit} offset ${query.offset}`;
}

/** Returns the newest version at or before this time. */
export async function findVersionAt(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  asOf: string,
): Promise<VersionRow | undefined> {
  const [row] = await sql<VersionRow[]>`
    select ${sql.unsafe(COLUMNS)} from dataset_versions v
    where v.tenant_id = ${tenantId} and v.dataset_id = ${datasetId} and v.as_of <= ${asOf}::text::timestamptz
    order by v.as_of desc limit 1`;
  return row;
}

export async function findVersionTagged(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  tag: string,
): Promise<VersionRow | undefined> {
  const [row] = await sql<VersionRow[]>`
    select ${sql.unsafe(COLUMNS)} from dataset_tags g
    join dataset_versions v on v.tenant_id = g.tenant_id and v.dataset_id = g.dataset_id and v.as_of = g.as_of
    where g.tenant_id = ${tenantId} and g.dataset_id = ${datasetId} and g.tag = ${tag}`;
  return row;
}

/** Sets a tag, moving it if it is on another version. */
export async function upsertTag(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  tag: string,
  asOf: string,
): Promise<void> {
  await sql`
    insert into dataset_tags (tenant_id, dataset_id, tag, as_of)
    values (${tenantId}, ${datasetId}, ${tag}, ${asOf}::text::timestamptz)
    on conflict (tenant_id, dataset_id, tag) do update set as_of = excluded.as_of`;
}

export interface VersionDiff {
  examples_added: string[];
  examples_removed: string[];
  examples_modified: string[];
}

/** Returns the examples that differ between two times: present in only one of them, or with another state. */
export async function diffVersions(
  sql: Sql,
  tenantId: string,
  datasetId: string,
  from: string,
  to: string,
): Promise<VersionDiff> {
  const at = (time: string) => sql`
    select example_id, modified_at from dataset_examples
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and modified_at <= ${time}::text::timestamptz
      and (replaced_at is null or replaced_at > ${time}::text::timestamptz)`;
  const [row] = await sql<VersionDiff[]>`
    with a as (${at(from)}), b as (${at(to)}),
    pairs as (select example_id, a.modified_at as before, b.modified_at as after from a full join b using (example_id))
    select coalesce(json_agg(example_id order by example_id) filter (where before is null), '[]') as examples_added,
      coalesce(json_agg(example_id order by example_id) filter (where after is null), '[]') as examples_removed,
      coalesce(json_agg(example_id order by example_id) filter (where before <> after), '[]') as examples_modified
    from pairs`;
  return row!;
}
