import { mapFields, sealState } from "../../../../host-kit/src/sealed-json.ts";
import type { StateCipher } from "../../../../host-kit/src/state-cipher.ts";
import { cipherOf, refuseSearch, sealed } from "../../base/db/sealed-values.ts";
import type { AccessCondition } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { contains } from "../../base/db/containment.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { pageTotal } from "../../base/db/page-total.ts";
import type { Page } from "../../base/http/pagination.ts";
import { permits } from "../custom-auth/conditions.ts";
import type { Extract } from "./extract.ts";
import type { ThreadFilter, ThreadSearch, ThreadTtl } from "./schema.ts";

/** Arguments of the functions that read the values of `threads t` (functions/values.sql). */
const VALUES = "t.thread_id, t.values, t.value_lists";

/** Columns of `threads t` by their names on the wire. */
const COLUMNS = {
  thread_id: "t.thread_id",
  created_at: "t.created_at",
  updated_at: "t.updated_at",
  state_updated_at: "t.state_updated_at",
  metadata: "t.metadata",
  status: "t.status",
  config: "t.config",
  values: `coalesce(thread_values(${VALUES}), '{}')`,
  interrupts: "t.interrupts",
  error: "t.error",
};
/** Threads have no separate context; the name is accepted because the contract lists it. */
const SELECTABLE = { ...COLUMNS, context: "null::jsonb" };

/** Wire format of the time to live; null for a thread that does not expire. */
const TTL = `case when t.ttl_minutes < 'Infinity' then
  json_build_object('strategy', t.ttl_strategy, 'ttl', t.ttl_minutes, 'expires_at', t.expires_at) end`;

/** @returns the new thread's JSON; undefined when the id is taken */
export async function insertThread(
  sql: Sql | Transaction,
  id: string,
  metadata: Record<string, unknown>,
  ttl?: ThreadTtl | null,
): Promise<string | undefined> {
  const [row] = await sql<{ wire: string }[]>`
    insert into threads as t (thread_id, metadata, ttl_strategy, ttl_minutes)
    values (${id}, ${JSON.stringify(metadata)}::text::jsonb, ${ttl?.strategy ?? null}, ${ttl?.minutes ?? null})
    on conflict do nothing
    returning thread_wire(t)::jsonb::text as wire`;
  return row?.wire;
}

export async function findThread(sql: Sql | Transaction, id: string, withTtl = false): Promise<string | undefined> {
  const [row] = await sql<{ wire: string }[]>`
    select ${withTtl ? sql`(thread_wire(t)::jsonb || jsonb_build_object('ttl', ${sql.unsafe(TTL)}))` : sql`thread_wire(t)`}::text as wire
    from threads t where thread_id = ${id}`;
  return row?.wire;
}

export async function patchThread(
  sql: Sql,
  id: string,
  metadata: Record<string, unknown>,
  ttl?: ThreadTtl | null,
): Promise<string | undefined> {
  const { count } = await sql`
    update threads t
    set metadata = t.metadata || ${JSON.stringify(metadata)}::text::jsonb, updated_at = now()
        ${ttl ? sql`, ttl_strategy = ${ttl.strategy}, ttl_minutes = ${ttl.minutes}` : sql``}
    where thread_id = ${id}`;
  // a separate statement: the first one may have waited for a run's end, and would read older items of the values
  return count === 0 ? undefined : findThread(sql, id);
}

/** Deletes the thread with its runs, checkpoints and checkpoint writes. */
export async function deleteThreadRows(sql: Sql, id: string): Promise<void> {
  await sql`select delete_thread(${id})`;
}

/** @returns the copy's JSON, or undefined when there is no such source */
export async function copyThread(sql: Sql, source: string, target: string): Promise<string | undefined> {
  const [row] = await sql<{ wire: string | null }[]>`select copy_thread(${source}, ${target})::text as wire`;
  return row?.wire ?? undefined;
}

/**
 * Deletes all checkpoints of the threads except the latest. Busy threads are skipped.
 * @returns the number of pruned threads
 */
export async function pruneThreads(sql: Sql, ids: string[]): Promise<number> {
  const [row] = await sql<{ pruned: number }[]>`
    select count(*) filter (where prune_thread(id))::int as pruned
    from (select distinct id from unnest(${ids}::uuid[]) id order by id) ids`;
  return row!.pruned;
}

/** Finds a thread that is visible to the caller. */
export async function findPermittedThread(
  sql: Sql,
  id: string,
  sees: readonly AccessCondition[],
): Promise<string | undefined> {
  const [row] = await sql<{ wire: string }[]>`
    select thread_wire(t)::text as wire from threads t
    where thread_id = ${id} and ${permits(sql, "t.metadata", sees)}`;
  return row?.wire;
}

const containsValues = (sql: Sql, filter: ThreadFilter["values"]) => {
  if (filter && Object.keys(filter).length > 0) refuseSearch(sql, "values", "The values of threads");
  return contains(sql, "t.values", filter, (wanted) => sql`values_contain(${sql.unsafe(VALUES)}, ${wanted})`);
};

const matching = (sql: Sql, filter: ThreadFilter, sees?: readonly AccessCondition[]) => sql`
  ${contains(sql, "t.metadata", filter.metadata)}
  and ${permits(sql, "t.metadata", sees)}
  and ${containsValues(sql, filter.values)}
  and ${filter.status ? sql`t.status = ${filter.status}` : sql`true`}
  and ${filter.ids ? sql`t.thread_id = any(${filter.ids}::uuid[])` : sql`true`}`;

/** Where values are encrypted, their parts are taken after they are read: see `extractHere`. */
function extracted(sql: Sql, extracts: Extract[]) {
  if (cipherOf(sql)) {
    const columns = { values: sql.unsafe(COLUMNS.values), interrupts: sql`t.interrupts` };
    return sql`json_build_object('metadata', t.metadata, 'config', t.config, 'values', ${columns.values},
                                 'interrupts', ${columns.interrupts})::jsonb`;
  }
  const pairs = extracts.map(
    ({ alias, column, path }) =>
      sql`json_build_object(${alias}::text, ${
        column === "values"
          ? sql`value_at(${sql.unsafe(VALUES)}, ${path}::text[])`
          : sql`${sql("t." + column)} #> ${path}::text[]`
      })::jsonb`,
  );
  return pairs.reduce((all, pair) => sql`${all} || ${pair}`, sql`'{}'::jsonb`);
}

/**
 * threads_by_creation and threads_by_update serve the usual orders, threads_by_metadata the filter. The page is
 * selected first, by keys alone: serializing a thread reads its values, and the planner cannot know that only a page of
 * them is needed.
 */
export async function searchThreads(sql: Sql, search: ThreadSearch, sees?: readonly AccessCondition[]): Promise<Page> {
  const where = matching(sql, search, sees);
  const selected = search.select && search.select.length > 0 ? search.select : Object.keys(COLUMNS);
  const item = buildJsonObject(sql, SELECTABLE, selected);
  const descending = search.sort_order !== "asc";
  const order = sql`t.${sql(search.sort_by ?? "created_at")} ${sql.unsafe(descending ? "desc" : "asc")},
                    t.thread_id ${sql.unsafe(descending ? "asc" : "desc")}`;
  const [row] = await sql<Page[]>`
    with page as materialized (
      select t.thread_id from threads t where ${where} order by ${order} limit ${search.limit} offset ${search.offset}
    ), found as (
      select count(*)::int as n, coalesce(json_agg(${
        search.extract && search.extract.length > 0
          ? sql`${item}::jsonb || jsonb_build_object('extracted', ${extracted(sql, search.extract)})`
          : item
      } order by ${order}), '[]')::text as items
      from page join threads t using (thread_id)
    )
    select items, ${pageTotal(sql, sql`threads t where ${where}`, search)} as total from found`;
  if (!search.extract?.length || !cipherOf(sql)) return row!;
  return { ...row!, items: extractHere(row!.items, search.extract) };
}

/** Replaces `extracted`, which is a thread with its values, by the parts that were asked for. */
function extractHere(items: string, extracts: Extract[]): string {
  const threads = JSON.parse(items) as { extracted: Record<string, unknown> }[];
  for (const thread of threads) {
    const whole = thread.extracted;
    thread.extracted = Object.fromEntries(
      extracts.map(({ alias, column, path }) => [alias, path.reduce(partAt, whole[column]) ?? null]),
    );
  }
  return JSON.stringify(threads);
}

/** A step of a path, as Postgres' `#>` takes it. */
function partAt(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return /^[+-]?\d+$/.test(step) ? (value as unknown[]).at(Number(step)) : undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Record<string, unknown>)[step];
}

export async function countThreads(sql: Sql, filter: ThreadFilter, sees?: readonly AccessCondition[]): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from threads t where ${matching(sql, filter, sees)}`;
  return row!.n;
}

/** Fields of a thread needed to read its state. */
export interface StateRow {
  graph_id: string | null;
  config: Record<string, unknown>;
}

export async function selectStateRow(sql: Sql, id: string): Promise<StateRow | undefined> {
  const [row] = await sql<StateRow[]>`
    select metadata ->> 'graph_id' as graph_id, config from threads where thread_id = ${id}`;
  return row;
}

/** Locks the thread until the transaction ends: no run starts on it, and no other update. */
export async function lockStateRow(tx: Transaction, id: string): Promise<(StateRow & { busy: boolean }) | undefined> {
  // serializes updates; the row lock is shared, because the host's own transaction locks the row against runs too
  // (holds_head)
  await tx`select pg_advisory_xact_lock(hashtextextended(${id}, 1))`;
  const [locked] = await tx`select 1 from threads where thread_id = ${id} for share`;
  if (!locked) return undefined;
  // a separate statement, so that it sees runs accepted while this one waited for the lock
  const [row] = await tx<(StateRow & { busy: boolean })[]>`
    select metadata ->> 'graph_id' as graph_id, config,
           exists (select 1 from runs r where r.thread_id = t.thread_id and r.status in ('pending', 'running')) as busy
    from threads t where thread_id = ${id}`;
  return row;
}

const sealUpdate = (cipher: StateCipher, result: string): string =>
  mapFields(result, (value, key) => (key === "state" ? sealState(cipher, value) : value));

/**
 * Stores the head state after a state update. `result` is the host's unparsed answer to `state.update`.
 * @returns the new checkpoint as JSON text
 */
export async function settleUpdatedState(tx: Transaction, id: string, result: string): Promise<string> {
  const [row] = await tx<{ checkpoint: string }[]>`
    with answer as materialized (select ${sealed(tx, result, sealUpdate)}::text::jsonb as json)
    select json ->> 'checkpoint' as checkpoint,
           settle_state(${id}, json -> 'state')::text
    from answer`;
  return row!.checkpoint;
}

/** A thread whose row does not reflect the checkpoint written by a state update. `since`: a timestamp as text. */
export interface StaleThread {
  thread_id: string;
  since: string;
}

/** Threads that have been stale for `ageMs`, oldest first. */
export function selectStaleThreads(sql: Sql, ageMs: number): Promise<StaleThread[]> {
  return sql<StaleThread[]>`
    select thread_id, since::text from stale_threads where since <= now() - make_interval(secs => ${ageMs / 1000})
    order by since limit 20`;
}

/** Moves a thread to the end of the list. */
export async function postponeStale(sql: Sql, { thread_id, since }: StaleThread): Promise<void> {
  await sql`update stale_threads set since = now() where thread_id = ${thread_id} and since::text = ${since}`;
}

/** Removes the mark, unless another update has set it anew. */
export async function unmarkStale(sql: Sql, { thread_id, since }: StaleThread): Promise<void> {
  await sql`delete from stale_threads where thread_id = ${thread_id} and since::text = ${since}`;
}

/**
 * Deletes the checkpoints that a host wrote for a thread whose creation failed, unless the creation was committed and
 * only its answer was lost.
 */
export async function deleteCheckpoints(sql: Sql, id: string): Promise<void> {
  await sql`select delete_thread_data(${id}) where not exists (select 1 from threads where thread_id = ${id})`;
}
