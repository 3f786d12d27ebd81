import type { Sql, Transaction } from "../../base/db/connect.ts";
import { utcText } from "../../base/db/utc-text.ts";
import { uuid7 } from "../../base/ids.ts";
import { type Label, MAX_TAGS, type Resource, type ResourceType } from "./schema.ts";

/** Every resource that can have tags, with its name. A tag of a resource that is gone is not shown (deleteStale). */
const RESOURCES = `(
  select tenant_id, case when reference_dataset_id is null then 'project' else 'experiment' end as type,
    project_id as id, name from projects
  union all select tenant_id, 'dataset', dataset_id, name from datasets
  union all select tenant_id, 'prompt', repo_id, repo_handle from prompts
  union all select tenant_id, 'queue', queue_id, name from annotation_queues
  union all select tenant_id, 'dashboard', section_id, title from chart_sections
  union all select tenant_id, 'evaluator', evaluator_id, name from evaluators)`;

const dated = (alias: string) => `'description', ${alias}.description,
  'created_at', ${utcText(`${alias}.created_at`)}, 'updated_at', ${utcText(`${alias}.updated_at`)}`;
const KEY = `'id', k.tag_key_id, 'key', k.key, ${dated("k")}`;
const VALUE = `'id', v.tag_value_id, 'tag_key_id', v.tag_key_id, 'value', v.value, ${dated("v")}`;
const TAGGING = `json_build_object('id', t.tagging_id, 'tag_value_id', t.tag_value_id,
  'resource_type', t.resource_type, 'resource_id', t.resource_id, 'created_at', ${utcText("t.created_at")})`;

/** Lists keys, one of them or all, by name. @returns a JSON array */
export async function listKeys(sql: Sql, tenantId: string, id?: string): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(json_build_object(${sql.unsafe(KEY)}) order by lower(k.key), k.key), '[]')::text as items
    from resource_tag_keys k where k.tenant_id = ${tenantId} and ${id ? sql`k.tag_key_id = ${id}` : sql`true`}`;
  return row!.items;
}

/** Lists the values of a key, one of them or all. @returns a JSON array */
export async function listValues(sql: Sql, tenantId: string, keyId: string, id?: string): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(json_build_object(${sql.unsafe(VALUE)}) order by lower(v.value), v.value), '[]')::text as items
    from resource_tag_values v where v.tenant_id = ${tenantId} and v.tag_key_id = ${keyId}
      and ${id ? sql`v.tag_value_id = ${id}` : sql`true`}`;
  return row!.items;
}

/** Lists all keys with their values. @returns a JSON array */
export async function listTags(sql: Sql, tenantId: string): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(json_build_object(${sql.unsafe(KEY)}, 'values', coalesce(x.items, '[]'))
      order by lower(k.key), k.key), '[]')::text as items
    from resource_tag_keys k left join lateral (
      select json_agg(json_build_object(${sql.unsafe(VALUE)}) order by lower(v.value), v.value) as items
      from resource_tag_values v where v.tenant_id = k.tenant_id and v.tag_key_id = k.tag_key_id) x on true
    where k.tenant_id = ${tenantId}`;
  return row!.items;
}

/** Returns the tags of resources, by their ids, as JSON objects with an array of keys. */
export async function listTagsOf(sql: Sql, tenantId: string, wanted: readonly Resource[]): Promise<string> {
  const ids = wanted.map((resource) => resource.resource_id);
  const types = wanted.map((resource) => resource.resource_type);
  const [row] = await sql<{ item: string }[]>`
    with found as (
      select t.resource_id, v.tag_key_id, json_build_object(${sql.unsafe(VALUE)},
        'taggings', json_build_array(${sql.unsafe(TAGGING)})) as value, v.value as name
      from unnest(${ids}::uuid[], ${types}::text[]) as w(id, type)
      join resource_taggings t on t.tenant_id = ${tenantId} and t.resource_id = w.id and t.resource_type = w.type
      join resource_tag_values v on v.tenant_id = t.tenant_id and v.tag_value_id = t.tag_value_id
    ), keys as (
      select f.resource_id, k.key, json_build_object(${sql.unsafe(KEY)},
        'values', json_agg(f.value order by lower(f.name), f.name)) as item
      from found f join resource_tag_keys k on k.tenant_id = ${tenantId} and k.tag_key_id = f.tag_key_id
      group by f.resource_id, k.tenant_id, k.tag_key_id
    )
    select coalesce(json_object_agg(w.id, coalesce(
      (select json_agg(item order by lower(key), key) from keys where resource_id = w.id), '[]')), '{}')::text as item
    from (select distinct id from unnest(${ids}::uuid[]) as u(id)) w`;
  return row!.item;
}

/** Lists which resources of these types have a tag, one value or all. @returns a JSON array */
export async function listTaggings(
  sql: Sql,
  tenantId: string,
  types: readonly ResourceType[],
  valueId: string | undefined,
): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    with tagged as (
      select t.tag_value_id, r.type || 's' as type, json_agg(json_build_object('tagging_id', t.tagging_id,
        'resource_name', r.name, 'resource_id', r.id) order by lower(r.name), r.id) as items
      from resource_taggings t
      join ${sql.unsafe(RESOURCES)} r on r.tenant_id = t.tenant_id and r.id = t.resource_id and r.type = t.resource_type
      where t.tenant_id = ${tenantId} and r.type = any(${types}::text[])
        and ${valueId ? sql`t.tag_value_id = ${valueId}` : sql`true`}
      group by t.tag_value_id, r.type
    )
    select coalesce(json_agg(json_build_object('tag_key', k.key, 'tag_key_id', k.tag_key_id, 'tag_value', v.value,
      'tag_value_id', v.tag_value_id, 'resources',
      (select coalesce(json_object_agg(g.type, g.items), '{}') from tagged g where g.tag_value_id = v.tag_value_id))
      order by lower(k.key), k.key, lower(v.value), v.value), '[]')::text as items
    from resource_tag_values v join resource_tag_keys k on k.tenant_id = v.tenant_id and k.tag_key_id = v.tag_key_id
    where v.tenant_id = ${tenantId} and ${valueId ? sql`v.tag_value_id = ${valueId}` : sql`true`}`;
  return row!.items;
}

/** Makes writers of a workspace's tags take turns, so that its limits hold. */
export const lockTags = (tx: Transaction, tenantId: string) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`resource tags ${tenantId}`}, 0))`;

/** @returns the id; "full" at the limit; undefined when the key exists */
export async function insertKey(tx: Transaction, tenantId: string, { text, description }: Label) {
  const [count] = await tx<{ n: number }[]>`
    select count(*)::int as n from resource_tag_keys where tenant_id = ${tenantId}`;
  if (count!.n >= MAX_TAGS) return "full" as const;
  const [row] = await tx<{ id: string }[]>`
    insert into resource_tag_keys (tenant_id, tag_key_id, key, description)
    values (${tenantId}, ${uuid7()}, ${text!}, ${description ?? null})
    on conflict do nothing returning tag_key_id as id`;
  return row?.id;
}

/** @returns the id; "full" at the limit; "absent" without the key; undefined when the value exists */
export async function insertValue(tx: Transaction, tenantId: string, keyId: string, { text, description }: Label) {
  const [key] = await tx`
    select from resource_tag_keys where tenant_id = ${tenantId} and tag_key_id = ${keyId} for key share`;
  if (!key) return "absent" as const;
  const [count] = await tx<{ n: number }[]>`
    select count(*)::int as n from resource_tag_values where tenant_id = ${tenantId} and tag_key_id = ${keyId}`;
  if (count!.n >= MAX_TAGS) return "full" as const;
  const [row] = await tx<{ id: string }[]>`
    insert into resource_tag_values (tenant_id, tag_value_id, tag_key_id, value, description)
    values (${tenantId}, ${uuid7()}, ${keyId}, ${text!}, ${description ?? null})
    on conflict do nothing returning tag_value_id as id`;
  return row?.id;
}

/** Null keeps the text, and clears the description. @throws SQLSTATE 23505 when another key has the text */
export async function updateKey(sql: Sql, tenantId: string, id: string, change: Label): Promise<void> {
  await sql`
    update resource_tag_keys set updated_at = now(), key = coalesce(${change.text ?? null}, key)
      ${change.description === undefined ? sql`` : sql`, description = ${change.description}`}
    where tenant_id = ${tenantId} and tag_key_id = ${id}`;
}

/** Like updateKey. */
export async function updateValue(sql: Sql, tenantId: string, keyId: string, id: string, change: Label): Promise<void> {
  await sql`
    update resource_tag_values set updated_at = now(), value = coalesce(${change.text ?? null}, value)
      ${change.description === undefined ? sql`` : sql`, description = ${change.description}`}
    where tenant_id = ${tenantId} and tag_key_id = ${keyId} and tag_value_id = ${id}`;
}

/** @returns false when there is none; its values and their use go with it */
export const deleteKey = async (sql: Sql, tenantId: string, id: string): Promise<boolean> =>
  (await sql`delete from resource_tag_keys where tenant_id = ${tenantId} and tag_key_id = ${id} returning 1`).length >
  0;

export const deleteValue = async (sql: Sql, tenantId: string, keyId: string, id: string): Promise<boolean> =>
  (
    await sql`
      delete from resource_tag_values
      where tenant_id = ${tenantId} and tag_key_id = ${keyId} and tag_value_id = ${id} returning 1`
  ).length > 0;

/** Gives existing resources tags; a tag that one has stays. @returns the names of the tags, and the resource's type */
export async function insertTagging(tx: Transaction, tenantId: string, valueId: string, resource: Resource) {
  const [row] = await tx<{ item: string | null; has_value: boolean; has_resource: boolean; n: number }[]>`
    with value as (
      select tag_value_id from resource_tag_values
      where tenant_id = ${tenantId} and tag_value_id = ${valueId} for key share
    ), resource as (
      select r.id, r.type from ${tx.unsafe(RESOURCES)} r
      where r.tenant_id = ${tenantId} and r.id = ${resource.resource_id} and r.type = ${resource.resource_type}
    ), old as (
      select count(*)::int as n from resource_taggings
      where tenant_id = ${tenantId} and resource_id = ${resource.resource_id}
    ), t as (
      insert into resource_taggings as t (tenant_id, tagging_id, tag_value_id, resource_type, resource_id)
      select ${tenantId}, ${uuid7()}, value.tag_value_id, resource.type, resource.id from value, resource, old
      where old.n < ${MAX_TAGS}
      on conflict (tenant_id, resource_id, tag_value_id) do update set resource_type = excluded.resource_type
      returning *
    )
    select (select ${tx.unsafe(TAGGING)} from t)::text as item, exists (select from value) as has_value,
      exists (select from resource) as has_resource, (select n from old) as n`;
  return row!;
}

/** Gives a new resource tags. @returns how many of them exist */
export async function insertTaggings(
  sql: Sql | Transaction,
  tenantId: string,
  valueIds: readonly string[],
  id: string,
  type: ResourceType,
): Promise<number> {
  const rows = await sql`
    insert into resource_taggings (tenant_id, tagging_id, tag_value_id, resource_type, resource_id)
    select ${tenantId}, w.tagging_id, v.tag_value_id, ${type}, ${id}
    from unnest(${valueIds}::uuid[], ${valueIds.map(() => uuid7())}::uuid[]) as w(value_id, tagging_id)
    join resource_tag_values v on v.tenant_id = ${tenantId} and v.tag_value_id = w.value_id
    returning 1`;
  return rows.length;
}

/** @returns the type of the resource that has the tagging */
export async function findTagging(sql: Sql, tenantId: string, id: string): Promise<ResourceType | undefined> {
  const [row] = await sql<{ type: ResourceType }[]>`
    select resource_type as type from resource_taggings where tenant_id = ${tenantId} and tagging_id = ${id}`;
  return row?.type;
}

export async function deleteTagging(sql: Sql, tenantId: string, id: string): Promise<void> {
  await sql`delete from resource_taggings where tenant_id = ${tenantId} and tagging_id = ${id}`;
}

/**
 * Builds the condition that the resource whose id is in `column` has, of every key that one of these values belongs to,
 * at least one of these values. A value that does not exist is on no resource.
 */
export function hasTags(sql: Sql | Transaction, tenantId: string, column: string, values: string[] | undefined) {
  if (!values || values.length === 0) return sql`true`;
  return sql`not exists (
    select from unnest(${values}::uuid[]) as wanted(id)
    left join resource_tag_values v on v.tenant_id = ${tenantId} and v.tag_value_id = wanted.id
    left join resource_taggings t on t.tenant_id = ${tenantId} and t.tag_value_id = v.tag_value_id
      and t.resource_id = ${sql.unsafe(column)}
    group by coalesce(v.tag_key_id, wanted.id) having count(t.tagging_id) = 0)`;
}

/** Deletes the tags of resources that are gone, at most `limit`. @returns the count */
export async function deleteStaleTaggings(sql: Sql, limit: number): Promise<number> {
  const rows = await sql`
    delete from resource_taggings where (tenant_id, tagging_id) in (
      select t.tenant_id, t.tagging_id from resource_taggings t
      where not exists (select from ${sql.unsafe(RESOURCES)} r where r.tenant_id = t.tenant_id and r.id = t.resource_id)
      limit ${limit}) returning 1`;
  return rows.length;
}

export async function deleteResourceTagsOfWorkspace(tx: Transaction, tenantId: string): Promise<void> {
  await tx`delete from resource_tag_keys where tenant_id = ${tenantId}`;
}
