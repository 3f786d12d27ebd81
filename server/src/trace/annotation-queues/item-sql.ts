import type { Sql, Transaction } from "../../base/db/connect.ts";
import { isoTime } from "../datasets/sql.ts";
import type { Section } from "./item-schema.ts";

export interface NewItem {
  queue_run_id: string;
  run_id: string;
  project_id: string;
  trace_id: string;
  /** As in ClickHouse, in UTC. */
  start_time: string;
  source_proposed_example_id: string | null;
  item_type: ItemType;
  /** Of a thread, whose run is its latest root. */
  thread_id: string | null;
  /** The other run of a pair. */
  other: { run_id: string; project_id: string; trace_id: string; start_time: string } | null;
}

export type ItemType = "RUN" | "THREAD" | "PAIR";

const WIRE = `json_build_object('id', i.queue_run_id, 'run_id', i.run_id, 'queue_id', i.queue_id,
  'added_at', ${isoTime("i.added_at")}, 'last_reviewed_time', ${isoTime("i.last_reviewed_time")},
  'source_proposed_example_id', i.source_proposed_example_id, 'item_type', i.item_type,
  'other_run_id', i.other_run_id)`;

/**
 * Locks a queue against other claims, changes of statuses and additions, until the transaction ends. @returns its
 * number of items; undefined when there is no such queue
 */
export async function lockQueue(sql: Transaction, tenantId: string, queueId: string): Promise<number | undefined> {
  const [locked] = await sql`
    select 1 from annotation_queues where tenant_id = ${tenantId} and queue_id = ${queueId} for no key update`;
  if (!locked) return undefined;
  const [row] = await sql<{ size: number }[]>`
    select count(*)::int as size from annotation_queue_runs where tenant_id = ${tenantId} and queue_id = ${queueId}`;
  return row!.size;
}

/**
 * Adds items at the end of the queue, in order; those that it has stay as they are. @returns the number of new ones
 */
export async function insertItems(
  sql: Transaction,
  tenantId: string,
  queueId: string,
  items: readonly NewItem[],
): Promise<number> {
  const inserted = await sql`
    insert into annotation_queue_runs (tenant_id, queue_run_id, queue_id, run_id, project_id, trace_id, start_time,
      source_proposed_example_id, item_type, thread_id, other_run_id, other_project_id, other_trace_id,
      other_start_time, added_at)
    select ${tenantId}, n.queue_run_id, ${queueId}, n.run_id, n.project_id, n.trace_id,
      n.start_time at time zone 'UTC', n.source_proposed_example_id, n.item_type, n.thread_id,
      (n.other ->> 'run_id')::uuid, (n.other ->> 'project_id')::uuid, (n.other ->> 'trace_id')::uuid,
      (n.other ->> 'start_time')::timestamp at time zone 'UTC',
      clock_timestamp() + n.place * interval '1 microsecond'
    from rows from (jsonb_to_recordset(${JSON.stringify(items)}::text::jsonb) as (queue_run_id uuid, run_id uuid,
      project_id uuid, trace_id uuid, start_time timestamp, source_proposed_example_id uuid, item_type text,
      thread_id text, other jsonb))
      with ordinality as n (queue_run_id, run_id, project_id, trace_id, start_time, source_proposed_example_id,
        item_type, thread_id, other, place)
    order by n.place
    on conflict do nothing returning 1`;
  return inserted.length;
}

/** Returns the items of these runs in the queue, in the order of the runs, as a JSON array. */
export async function findItems(
  sql: Sql | Transaction,
  tenantId: string,
  queueId: string,
  runIds: string[],
): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(${sql.unsafe(WIRE)} order by w.place), '[]')::text as items
    from unnest(${runIds}::uuid[]) with ordinality as w (run_id, place)
    join annotation_queue_runs i on i.tenant_id = ${tenantId} and i.queue_id = ${queueId} and i.run_id = w.run_id
      and i.item_type <> 'THREAD'`;
  return row!.items;
}

/** @returns false when the queue has no such item */
export async function updateItem(
  sql: Sql,
  tenantId: string,
  queueId: string,
  id: string,
  patch: { added_at?: string | null | undefined; last_reviewed_time?: string | null | undefined },
): Promise<boolean> {
  const updated = await sql`
    update annotation_queue_runs set
      added_at = coalesce(${patch.added_at ?? null}::text::timestamptz, added_at),
      last_reviewed_time = coalesce(${patch.last_reviewed_time ?? null}::text::timestamptz, last_reviewed_time)
    where tenant_id = ${tenantId} and queue_id = ${queueId} and queue_run_id = ${id} returning 1`;
  return updated.length > 0;
}

/** Deletes items, given by `items`, or by `ids`, theirs or those of single runs; all without either. @returns the number of deleted items */
export async function deleteItems(
  sql: Sql,
  tenantId: string,
  queueId: string,
  { ids, items, except = [] }: { ids?: readonly string[]; items?: readonly string[]; except?: readonly string[] },
): Promise<number> {
  const named = (list: readonly string[]) =>
    sql`(queue_run_id = any(${list as string[]}::uuid[])
      or item_type = 'RUN' and run_id = any(${list as string[]}::uuid[]))`;
  const deleted = await sql`
    delete from annotation_queue_runs where tenant_id = ${tenantId} and queue_id = ${queueId}
      and ${ids ? named(ids) : sql`true`}
      and ${items ? sql`queue_run_id = any(${items as string[]}::uuid[])` : sql`true`} and not ${named(except)} returning 1`;
  return deleted.length;
}

/** Item as one reviewer sees it. Times are ISO text. */
export interface ItemRow {
  queue_run_id: string;
  queue_id: string;
  run_id: string;
  project_id: string;
  trace_id: string;
  /** As in ClickHouse. */
  start_time: string;
  added_at: string;
  effective_added_at: string;
  last_reviewed_time: string | null;
  archived_at: string | null;
  reserved_by: string[];
  completed_by: string[];
  source_proposed_example_id: string | null;
  item_type: ItemType;
  thread_id: string | null;
  other_run_id: string | null;
  other_project_id: string | null;
  other_trace_id: string | null;
  /** As in ClickHouse. */
  other_start_time: string | null;
  section: Section;
}

/**
 * Whether a reservation `v` in a queue `q` is in force. The lower bound ends reservations of a future that a step of the
 * clock took back; a minute is the tolerance for small steps.
 */
export const IS_RESERVED = `coalesce(q.enable_reservations and v.status is distinct from 'completed'
  and v.reserved_until > clock_timestamp() and v.reserved_at < clock_timestamp() + interval '1 minute', false)`;

const NEEDED = `coalesce(q.num_reviewers_per_item, greatest(1, (
  select count(*) from annotation_queue_reviewers a where a.tenant_id = q.tenant_id and a.queue_id = q.queue_id)))`;

/**
 * Selects the items of queues as `seen`, with the section in which the reviewer `me` sees each: one that is not
 * archived needs their review while the reviewers who completed it, and the others who have it reserved, are fewer than
 * needed. The queue's items bound the read; each takes one lookup by the primary key of reviews.
 */
const seenBy = (sql: Sql | Transaction, tenantId: string, me: string, which: { queue?: string; item?: string }) => sql`
  select i.queue_run_id, i.queue_id, i.run_id, i.project_id, i.trace_id, i.start_time, i.added_at, i.last_reviewed_time,
    i.archived_at, i.source_proposed_example_id, i.item_type, i.thread_id, i.other_run_id, i.other_project_id,
    i.other_trace_id, i.other_start_time, coalesce(mine.override_added_at, i.added_at) as effective_added_at,
    r.reserved_by, r.completed_by, ${sql.unsafe(NEEDED)} as needed,
    case when i.archived_at is not null then 'completed'
      when (q.reviewer_access_mode = 'any' or exists (
          select 1 from annotation_queue_reviewers a
          where a.tenant_id = q.tenant_id and a.queue_id = q.queue_id and a.identity_id = ${me}))
        and mine.status is distinct from 'completed'
        and cardinality(r.completed_by) + cardinality(array_remove(r.reserved_by, ${me}::uuid)) < ${sql.unsafe(NEEDED)}
      then 'needs_my_review' else 'needs_others_review' end as section
  from annotation_queues q
  join annotation_queue_runs i on i.tenant_id = q.tenant_id and i.queue_id = q.queue_id
  left join annotation_queue_reviews mine
    on mine.tenant_id = i.tenant_id and mine.queue_run_id = i.queue_run_id and mine.identity_id = ${me}
  cross join lateral (
    select coalesce(array_agg(v.identity_id order by v.completed_at, v.identity_id)
        filter (where v.status = 'completed'), '{}') as completed_by,
      coalesce(array_agg(v.identity_id order by v.reserved_at, v.identity_id)
        filter (where ${sql.unsafe(IS_RESERVED)}), '{}') as reserved_by
    from annotation_queue_reviews v where v.tenant_id = i.tenant_id and v.queue_run_id = i.queue_run_id) r
  where q.tenant_id = ${tenantId}
    and ${which.queue === undefined ? sql`true` : sql`i.queue_id = ${which.queue}`}
    and ${which.item === undefined ? sql`true` : sql`i.queue_run_id = ${which.item}`}`;

const engineTime = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as ${column}`;

const ROW = `queue_run_id, queue_id, run_id, project_id, trace_id, ${engineTime("start_time")}, item_type, thread_id,
  other_run_id, other_project_id, other_trace_id, ${engineTime("other_start_time")},
  ${["added_at", "effective_added_at", "last_reviewed_time", "archived_at"]
    .map((name) => `${isoTime(name)} as ${name}`)
    .join(", ")}, reserved_by, completed_by, source_proposed_example_id, section`;

/** Order of a reviewer's items: as added, except those that they moved. */
const BY_PLACE = "effective_added_at, queue_run_id";

export interface ItemFilter {
  item_type?: ItemType | undefined;
  min_start_time?: string | undefined;
  max_start_time?: string | undefined;
  archived_since?: string | undefined;
  archived_until?: string | undefined;
  status?: Section | undefined;
  archived?: boolean | undefined;
  added_since?: string | null | undefined;
  added_until?: string | null | undefined;
}

const passes = (
  sql: Sql | Transaction,
  { status, archived, added_since, added_until, item_type: type, ...times }: ItemFilter,
) => sql`
  ${type === undefined ? sql`true` : sql`item_type = ${type}`}
  and ${times.min_start_time === undefined ? sql`true` : sql`start_time >= ${times.min_start_time}::text::timestamptz`}
  and ${times.max_start_time === undefined ? sql`true` : sql`start_time <= ${times.max_start_time}::text::timestamptz`}
  and ${times.archived_since === undefined ? sql`true` : sql`archived_at > ${times.archived_since}::text::timestamptz`}
  and ${times.archived_until === undefined ? sql`true` : sql`archived_at < ${times.archived_until}::text::timestamptz`}
  and   ${status === undefined ? sql`true` : sql`section = ${status}`}
  and ${archived === undefined ? sql`true` : sql`(archived_at is not null) = ${archived}`}
  and ${added_since == null ? sql`true` : sql`added_at >= ${added_since}::text::timestamptz`}
  and ${added_until == null ? sql`true` : sql`added_at <= ${added_until}::text::timestamptz`}`;

export async function listItems(
  sql: Sql,
  tenantId: string,
  me: string,
  queueId: string,
  filter: ItemFilter,
  page: { limit: number; offset: number },
): Promise<ItemRow[]> {
  return sql<ItemRow[]>`
    select ${sql.unsafe(ROW)} from (${seenBy(sql, tenantId, me, { queue: queueId })}) seen
    where ${passes(sql, filter)}
    order by ${sql.unsafe(`seen.effective_added_at, seen.queue_run_id`)} limit ${page.limit} offset ${page.offset}`;
}

/** Position in a reviewer's order. */
export interface ItemPosition {
  at: string;
  id: string;
}

/** Lists items after a position, or before it, nearest first. */
export async function listItemsFrom(
  sql: Sql,
  tenantId: string,
  me: string,
  queueId: string,
  filter: ItemFilter,
  {
    limit,
    from,
    backward,
  }: { limit: number; from: (ItemPosition & { inclusive: boolean }) | undefined; backward: boolean },
): Promise<ItemRow[]> {
  const direction = sql.unsafe(backward ? "desc" : "asc");
  const beyond = sql.unsafe(`${backward ? "<" : ">"}${from?.inclusive ? "=" : ""}`);
  return sql<ItemRow[]>`
    select ${sql.unsafe(ROW)} from (${seenBy(sql, tenantId, me, { queue: queueId })}) seen
    where ${passes(sql, filter)}
      and ${from === undefined ? sql`true` : sql`(seen.effective_added_at, seen.queue_run_id) ${beyond} (${from.at}::text::timestamptz, ${from.id}::uuid)`}
    order by seen.effective_added_at ${direction}, seen.queue_run_id ${direction} limit ${limit}`;
}

/** Counts the items that pass a filter. */
export async function countItems(
  sql: Sql,
  tenantId: string,
  me: string,
  queueId: string,
  filter: ItemFilter,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (${seenBy(sql, tenantId, me, { queue: queueId })}) seen where ${passes(sql, filter)}`;
  return row!.count;
}

/** Returns items by their ids or those of their runs or threads, as the reviewer sees them. */
export async function listItemsByIds(
  sql: Sql | Transaction,
  tenantId: string,
  me: string,
  queueId: string,
  ids: readonly string[],
): Promise<ItemRow[]> {
  return sql<ItemRow[]>`
    select ${sql.unsafe(ROW)} from (${seenBy(sql, tenantId, me, { queue: queueId })}) seen
    where queue_run_id = any(${ids as string[]}::uuid[])`;
}

/** Finds the items that the queue has of these runs, threads or pairs, in their order. */
export async function findItemIds(
  sql: Sql | Transaction,
  tenantId: string,
  queueId: string,
  items: readonly NewItem[],
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct on (w.place) i.queue_run_id as id
    from rows from (jsonb_to_recordset(${JSON.stringify(items)}::text::jsonb) as (run_id uuid, project_id uuid,
      item_type text, thread_id text, other jsonb))
      with ordinality as w (run_id, project_id, item_type, thread_id, other, place)
    join annotation_queue_runs i on i.tenant_id = ${tenantId} and i.queue_id = ${queueId} and i.item_type = w.item_type
      and case w.item_type when 'THREAD' then i.project_id = w.project_id and i.thread_id = w.thread_id
        else i.run_id = w.run_id and i.other_run_id is not distinct from (w.other ->> 'run_id')::uuid end
    order by w.place`;
  return rows.map((row) => row.id);
}

/** Returns the first item that needs the reviewer's review; the one that they have reserved comes first. */
export async function findNext(sql: Transaction, tenantId: string, me: string, queueId: string): Promise<ItemRow[]> {
  return sql<ItemRow[]>`
    select ${sql.unsafe(ROW)} from (${seenBy(sql, tenantId, me, { queue: queueId })}) seen
    where section = 'needs_my_review'
    order by ${me}::uuid = any(seen.reserved_by) desc, ${sql.unsafe(`seen.effective_added_at, seen.queue_run_id`)}
    limit 1`;
}

/** Returns an item as the reviewer sees it. `needed`: the number of reviewers who have to complete it. */
export async function findItem(
  sql: Sql | Transaction,
  tenantId: string,
  me: string,
  id: string,
): Promise<(ItemRow & { needed: number }) | undefined> {
  const [row] = await sql<(ItemRow & { needed: number })[]>`
    select ${sql.unsafe(ROW)}, needed::int from (${seenBy(sql, tenantId, me, { item: id })}) seen`;
  return row;
}

/** Counts the items of each section. */
export async function countSections(
  sql: Sql,
  tenantId: string,
  me: string,
  queueId: string,
): Promise<Record<Section | "total", number>> {
  const [row] = await sql<Record<Section | "total", number>[]>`
    select count(*)::int as total,
      count(*) filter (where section = 'needs_my_review')::int as needs_my_review,
      count(*) filter (where section = 'needs_others_review')::int as needs_others_review,
      count(*) filter (where section = 'completed')::int as completed
    from (${seenBy(sql, tenantId, me, { queue: queueId })}) seen`;
  return row!;
}

/** Counts archived items. Both bounds are exclusive, as those of `countItems`. */
export async function countArchived(
  sql: Sql | Transaction,
  tenantId: string,
  queueId: string,
  { start_time: since, end_time: until }: { start_time?: string | undefined; end_time?: string | undefined } = {},
): Promise<number> {
  const [row] = await sql<{ size: number }[]>`
    select count(*)::int as size from annotation_queue_runs
    where tenant_id = ${tenantId} and queue_id = ${queueId} and archived_at is not null
      and ${since === undefined ? sql`true` : sql`archived_at > ${since}::text::timestamptz`}
      and ${until === undefined ? sql`true` : sql`archived_at < ${until}::text::timestamptz`}`;
  return row!.size;
}

/** Returns the place of an item in its section, from 0. */
export async function findPosition(sql: Sql, tenantId: string, me: string, item: ItemRow): Promise<number> {
  const [row] = await sql<{ position: number }[]>`
    select place::int - 1 as position from (
      select queue_run_id, row_number() over (order by ${sql.unsafe(BY_PLACE)}) as place
      from (${seenBy(sql, tenantId, me, { queue: item.queue_id })}) seen where section = ${item.section}) placed
    where queue_run_id = ${item.queue_run_id}`;
  return row?.position ?? 0;
}
