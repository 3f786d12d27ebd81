import type { AccessCondition } from "../../base/auth/principal.ts";
import { cipherOf, refuseSearch, sealed } from "../../base/db/sealed-values.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { permits } from "../custom-auth/conditions.ts";
import { isPermitted } from "../custom-auth/sql.ts";
import type { Condition } from "./filter.ts";

/** Wire format of an item, from `store_items i`. */
export const ITEM = `json_build_object('namespace', i.namespace, 'key', i.key, 'value', i.value,
  'created_at', i.created_at, 'updated_at', i.updated_at)`;

/** Excludes expired items, whether they have been swept or not. */
const ALIVE = `(i.expires_at is null or i.expires_at > now())`;

/** Object that the project's own rules are compared with; of an encrypted item without its value. */
const AS_METADATA = `(case jsonb_typeof(i.value) when 'object' then i.value else '{}' end
  || jsonb_build_object('namespace', i.namespace, 'key', i.key))`;

export interface ItemKey {
  namespace: string[];
  key: string;
}

/** A key, and whether the read renews its time to live. */
export interface ItemRead extends ItemKey {
  refresh: boolean;
}

/** Items in the order of the keys, null where an item is missing, as one JSON array. */
export async function selectItems(
  sql: Sql | Transaction,
  reads: ItemRead[],
  sees?: readonly AccessCondition[],
): Promise<string> {
  const refresh = reads.some((read) => read.refresh);
  const [row] = await sql<{ items: string }[]>`
    with wanted as (
      select namespace, key, n, refresh
      from rows from (json_to_recordset(${JSON.stringify(reads)}::text::json) as (namespace text[], key text, refresh boolean))
        with ordinality as k(namespace, key, refresh, n)
    ) ${
      refresh
        ? sql`, refreshed as (
            update store_items i set expires_at = now() + make_interval(secs => i.ttl_minutes * 60)
            from (select distinct namespace, key from wanted where refresh order by namespace, key) w
            where i.namespace = w.namespace and i.key = w.key and i.ttl_minutes is not null and ${sql.unsafe(ALIVE)}
              and ${permits(sql, AS_METADATA, sees)}
          )`
        : sql``
    }
    select coalesce(json_agg(case when i.key is null then null else ${sql.unsafe(ITEM)} end order by k.n), '[]')::text as items
    from wanted k
    left join store_items i on i.namespace = k.namespace and i.key = k.key and ${sql.unsafe(ALIVE)}
      and ${permits(sql, AS_METADATA, sees)}`;
  return row!.items;
}

export interface ItemPut extends ItemKey {
  /** null deletes. */
  value: unknown;
  /** Minutes; null: does not expire. */
  ttl_minutes: number | null;
  /** Unit vectors of its texts; null: not indexed. */
  vectors: { id: string; model: string; embeddings: number[][] } | null;
}

/**
 * Writes and deletes (value null) items, each key at most once, with their vectors. Rows are locked in key order, so
 * that concurrent statements do not deadlock. Triggers remove the previous vectors.
 */
export async function putItems(
  sql: Sql | Transaction,
  puts: ItemPut[],
  sees?: readonly AccessCondition[],
): Promise<void> {
  const seal = (value: unknown): unknown =>
    value == null ? value : JSON.parse(sealed(sql, JSON.stringify(value), (cipher, text) => cipher.sealJson(text)));
  const rows = puts.map(({ vectors, value, ...put }) => ({
    ...put,
    value: cipherOf(sql)?.encrypts ? seal(value) : value,
    vectors_id: vectors?.id ?? null,
  }));
  const vectors = puts.flatMap((put) =>
    (put.vectors?.embeddings ?? []).map((embedding, n) => ({
      vectors_id: put.vectors!.id,
      n,
      model: put.vectors!.model,
      embedding,
    })),
  );
  await sql`
    with op as (
      select namespace, key, value, ttl_minutes, vectors_id
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as (namespace text[], key text, value jsonb, ttl_minutes float8, vectors_id uuid)
    ), deleted as (
      delete from store_items i using op
      where i.namespace = op.namespace and i.key = op.key and (op.value is null or op.value = 'null')
        and ${permits(sql, AS_METADATA, sees)}
    ) ${
      vectors.length === 0
        ? sql``
        : sql`, vector as (
            insert into store_vectors (vectors_id, n, model, embedding)
            select vectors_id, n, model, embedding from json_to_recordset(${JSON.stringify(vectors)}::text::json)
              as (vectors_id uuid, n integer, model text, embedding real[])
          )`
    }
    insert into store_items as i (namespace, key, value, ttl_minutes, expires_at, vectors_id)
    select namespace, key, value, ttl_minutes, now() + make_interval(secs => ttl_minutes * 60), vectors_id
    from op where value is not null and value <> 'null' order by namespace, key
    on conflict (namespace, key) do update
    set value = excluded.value, ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at,
        vectors_id = excluded.vectors_id, updated_at = now(),
        created_at = case when ${sql.unsafe(ALIVE)} then i.created_at else now() end
    where not ${sql.unsafe(ALIVE)} or (${permits(sql, AS_METADATA, sees)})`;
}

/**
 * Whether a caller with these conditions may write the item: the stored item, if any, and the new value must meet them.
 * A missing item may be deleted where its namespace and key meet them; otherwise it gets the same answer as another user's.
 */
export async function mayWriteItem(
  sql: Sql,
  { namespace, key, value }: ItemKey & { value: object | null },
  sees: readonly AccessCondition[],
): Promise<boolean> {
  const [row] = await sql<{ permitted: boolean | null; there: boolean }[]>`
    select bool_and(${permits(sql, AS_METADATA, sees)}) as permitted, count(*) > 0 as there
    from store_items i where i.namespace = ${namespace}::text[] and i.key = ${key} and ${sql.unsafe(ALIVE)}`;
  if (row!.there && row!.permitted !== true) return false;
  return (value === null && row!.there) || isPermitted(sql, { ...value, namespace, key }, sees);
}

export interface ItemSearch {
  prefix: string[];
  conditions: Condition[];
  limit: number;
  offset: number;
  refresh: boolean;
  sees?: readonly AccessCondition[] | undefined;
}

/** Query of a semantic search. */
export interface SemanticQuery {
  model: string;
  /** A unit vector. */
  embedding: number[];
  /** pgvector's schema, quoted; null where the database does not have it. */
  vectorSchema: string | null;
}

/**
 * Newest first, or most similar first. The prefix is compared label by label, so that no label acts as a pattern and
 * none matches the start of a longer one; its first two labels are served by store_items_by_prefix. Comparisons hold
 * only between values of one type: a number is never greater than a string.
 */
export async function searchItems(
  sql: Sql | Transaction,
  search: ItemSearch,
  likeness: SemanticQuery | null = null,
): Promise<string> {
  if (search.conditions.length > 0) refuseSearch(sql, "filter", "The values of store items");
  const page = likeness ? mostAlike(sql, search, likeness) : newest(sql, search);
  const item = likeness ? `(${ITEM}::jsonb || jsonb_build_object('score', score))::json` : ITEM;
  const order = likeness ? sql`score desc, i.namespace, i.key` : sql`i.updated_at desc, i.namespace, i.key`;
  const [row] = await sql<{ items: string }[]>`
    with page as materialized (${page}) ${
      search.refresh
        ? sql`, refreshed as (
            update store_items i set expires_at = now() + make_interval(secs => i.ttl_minutes * 60)
            from (select namespace, key from page order by namespace, key) p
            where i.namespace = p.namespace and i.key = p.key and i.ttl_minutes is not null
          )`
        : sql``
    }
    select coalesce(json_agg(${sql.unsafe(item)} order by ${order}), '[]')::text as items
    from page join store_items i using (namespace, key)`;
  return row!.items;
}

const matching = (sql: Sql | Transaction, { prefix, conditions, sees }: ItemSearch) => sql`
  ${prefix.length > 0 ? sql`i.namespace[1] = ${prefix[0]!}` : sql`true`}
  and ${prefix.length > 1 ? sql`i.namespace[2] = ${prefix[1]!}` : sql`true`}
  and ${prefix.length > 2 ? sql`i.namespace[1:${prefix.length}::int] = ${prefix}::text[]` : sql`true`}
  and ${conditions.length > 0 ? sql`store_matches(i.value, ${JSON.stringify(conditions)}::text::jsonb)` : sql`true`}
  and ${permits(sql, AS_METADATA, sees)}
  and ${sql.unsafe(ALIVE)}`;

const newest = (sql: Sql | Transaction, search: ItemSearch) => sql`
  select i.namespace, i.key from store_items i where ${matching(sql, search)}
  order by i.updated_at desc, i.namespace, i.key limit ${search.limit} offset ${search.offset}`;

/**
 * Compares every vector below the prefix, so the answer is exact. pgvector's own indexes are not used: they choose
 * neighbours first and filter by namespace and conditions afterwards, and a user's memories are few among all.
 *
 * Measured with 1536 dimensions: 28 µs per vector with pgvector (cast included), 210 µs without. Unit vectors make the
 * inner product the cosine; an item's score is that of its most similar text.
 */
function mostAlike(sql: Sql | Transaction, search: ItemSearch, { model, embedding, vectorSchema }: SemanticQuery) {
  const score =
    vectorSchema === null
      ? sql`(select sum(a * b) from unnest(v.embedding, (select q from asked)) as both_(a, b))`
      : sql`-(v.embedding::${sql.unsafe(vectorSchema)}.vector
              operator(${sql.unsafe(vectorSchema)}.<#>) (select q from asked)::${sql.unsafe(vectorSchema)}.vector)`;
  return sql`
    with asked as materialized (select array(
      select e::real from jsonb_array_elements_text(${JSON.stringify(embedding)}::text::jsonb) with ordinality as x(e, n) order by n
    ) as q)
    select i.namespace, i.key, max(${score}) as score
    from store_items i join store_vectors v using (vectors_id)
    where ${matching(sql, search)} and v.model = ${model} and cardinality(v.embedding) = ${embedding.length}
    group by i.namespace, i.key
    order by score desc, i.namespace, i.key limit ${search.limit} offset ${search.offset}`;
}

export interface NamespaceSearch {
  /** `*` in a path matches any single label. */
  conditions: { match_type: "prefix" | "suffix"; path: string[] }[];
  maxDepth: number | null;
  limit: number;
  offset: number;
}

export async function listNamespaces(
  sql: Sql | Transaction,
  search: NamespaceSearch,
  sees?: readonly AccessCondition[],
): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(namespace), '[]')::text as items from (
      select distinct i.namespace[1:coalesce(${search.maxDepth}::int, cardinality(i.namespace))] collate "C" as namespace
      from store_items i
      where ${sql.unsafe(ALIVE)} and ${permits(sql, AS_METADATA, sees)} and not exists (
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

/** @returns the number of deleted items, at most `limit` */
export async function deleteExpiredItems(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from store_items i using (
      select namespace, key from store_items where expires_at <= now() order by expires_at limit ${limit}
      for update skip locked
    ) old where i.namespace = old.namespace and i.key = old.key
    returning 1`;
  return deleted.length;
}

/** Schema that pgvector is installed in, quoted; null where it is not installed. */
export async function findVectorSchema(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ name: string }[]>`
    select quote_ident(n.nspname) as name from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector'`;
  return row?.name ?? null;
}

/** Installs pgvector if the server has it and the database user may. */
export async function installVector(sql: Sql): Promise<void> {
  await sql`create extension if not exists vector`;
}
