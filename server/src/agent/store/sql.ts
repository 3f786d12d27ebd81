import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Condition } from "./filter.ts";

/** Item of the wire, from `store_items i`. */
const ITEM = `json_build_object('namespace', i.namespace, 'key', i.key, 'value', i.value,
  'created_at', i.created_at, 'updated_at', i.updated_at)`;

export interface ItemKey {
  namespace: string[];
  key: string;
}

/** Items in the order of the keys, null where there is none, as one JSON array. */
export async function selectItems(sql: Sql | Transaction, keys: ItemKey[]): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(case when i.key is null then null else ${sql.unsafe(ITEM)} end order by k.n), '[]')::text as items
    from rows from (json_to_recordset(${JSON.stringify(keys)}::text::json) as (namespace text[], key text))
      with ordinality as k(namespace, key, n)
    left join store_items i on i.namespace = k.namespace and i.key = k.key`;
  return row!.items;
}

/**
 * Writes and deletes (value null) items, each key at most once. Rows are taken in the order of their keys, so
 * that two such statements do not wait for each other.
 */
export async function putItems(sql: Sql | Transaction, puts: (ItemKey & { value: unknown })[]): Promise<void> {
  await sql`
    with op as (
      select namespace, key, value
      from json_to_recordset(${JSON.stringify(puts)}::text::json) as (namespace text[], key text, value jsonb)
    ), deleted as (
      delete from store_items i using op
      where i.namespace = op.namespace and i.key = op.key and (op.value is null or op.value = 'null')
    )
    insert into store_items (namespace, key, value)
    select namespace, key, value from op where value is not null and value <> 'null' order by namespace, key
    on conflict (namespace, key) do update set value = excluded.value, updated_at = now()`;
}

export interface ItemSearch {
  prefix: string[];
  conditions: Condition[];
  limit: number;
  offset: number;
}

/**
 * Newest first. The prefix is compared label by label, so that no label is a pattern and none matches the
 * beginning of a longer one; its first two labels are served by store_items_by_prefix. Comparisons hold only
 * between values of one type: a number is never greater than a string.
 */
export async function searchItems(sql: Sql | Transaction, search: ItemSearch): Promise<string> {
  const { prefix } = search;
  const [row] = await sql<{ items: string }[]>`
    with page as materialized (
      select i.namespace, i.key from store_items i
      where ${prefix.length > 0 ? sql`i.namespace[1] = ${prefix[0]!}` : sql`true`}
        and ${prefix.length > 1 ? sql`i.namespace[2] = ${prefix[1]!}` : sql`true`}
        and ${prefix.length > 2 ? sql`i.namespace[1:${prefix.length}::int] = ${prefix}::text[]` : sql`true`}
        and ${search.conditions.length > 0 ? sql`store_matches(i.value, ${JSON.stringify(search.conditions)}::text::jsonb)` : sql`true`}
      order by i.updated_at desc, i.namespace, i.key
      limit ${search.limit} offset ${search.offset}
    )
    select coalesce(json_agg(${sql.unsafe(ITEM)} order by i.updated_at desc, i.namespace, i.key), '[]')::text as items
    from page join store_items i using (namespace, key)`;
  return row!.items;
}

export interface NamespaceSearch {
  /** `*` in a path stands for any one label. */
  conditions: { match_type: "prefix" | "suffix"; path: string[] }[];
  maxDepth: number | null;
  limit: number;
  offset: number;
}

export async function listNamespaces(sql: Sql | Transaction, search: NamespaceSearch): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(namespace), '[]')::text as items from (
      select distinct i.namespace[1:coalesce(${search.maxDepth}::int, cardinality(i.namespace))] collate "C" as namespace
      from store_items i
      where not exists (
        select 1 from json_to_recordset(${JSON.stringify(search.conditions)}::text::json) as m(match_type text, path text[])
        where cardinality(i.namespace) < cardinality(m.path) or exists (
          select 1 from unnest(m.path) with ordinality as p(label, n)
          where p.label <> '*' and p.label is distinct from
            i.namespace[case m.match_type when 'prefix' then n else cardinality(i.namespace) - cardinality(m.path) + n end])
      )
      order by namespace
      limit ${search.limit} offset ${search.offset}
    ) page`;
  return row!.items;
}
