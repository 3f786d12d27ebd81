import type { Sql, Transaction } from "../../base/db/connect.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { hasTags } from "../resource-tags/sql.ts";
import { isoTime } from "../datasets/sql.ts";
import { CONFIG_ITEM } from "../feedback-configs/sql.ts";
import type { RubricItem } from "./rubric-schema.ts";
import type { QueuePatch, QueueSearch } from "./schema.ts";

/** Columns of `annotation_queues q` by wire name. */
const COLUMNS = {
  id: "q.queue_id",
  tenant_id: "q.tenant_id",
  name: "q.name",
  description: "q.description",
  created_at: isoTime("q.created_at"),
  updated_at: isoTime("q.updated_at"),
  num_reviewers_per_item: "q.num_reviewers_per_item",
  enable_reservations: "q.enable_reservations",
  reservation_minutes: "q.reservation_minutes",
  reviewer_access_mode: "q.reviewer_access_mode",
  default_dataset: "q.default_dataset",
  queue_type: "q.queue_type",
  comparative_experiment_id: "q.comparative_experiment_id",
  source_rule_id: "null",
  run_rule_id: "null",
  metadata: "q.metadata",
  // each with the configuration of its key
  rubric_items: `case when q.rubric_items is not null then coalesce((
    select jsonb_agg(case when k.config_id is null then e.item
        else e.item || jsonb_build_object('feedback_config', ${CONFIG_ITEM}) end order by e.place)
    from jsonb_array_elements(q.rubric_items) with ordinality as e (item, place)
    left join feedback_configs k on k.tenant_id = q.tenant_id and k.feedback_key = e.item ->> 'feedback_key'), '[]') end`,
  rubric_instructions: "q.rubric_instructions",
  assigned_reviewers: `coalesce((
    select json_agg(json_build_object('id', m.id, 'name', u.full_name, 'email', u.email) order by u.email)
    from annotation_queue_reviewers a join workspace_members m on m.id = a.identity_id join users u on u.id = m.user_id
    where a.tenant_id = q.tenant_id and a.queue_id = q.queue_id), '[]')`,
  total_runs: `(
    select count(*)::int from annotation_queue_runs i where i.tenant_id = q.tenant_id and i.queue_id = q.queue_id)`,
};
const WITHOUT_SIZE = Object.keys(COLUMNS).filter((name) => name !== "total_runs");

export interface NewQueue {
  tenant_id: string;
  queue_id: string;
  name: string;
  description: string | null;
  rubric_instructions: string | null;
  rubric_items: unknown;
  metadata: unknown;
  default_dataset: string | null;
  num_reviewers_per_item: number | null;
  enable_reservations: boolean;
  reservation_minutes: number;
  reviewer_access_mode: string;
  queue_type: string;
  comparative_experiment_id: string | null;
  created_at: string | null;
  updated_at: string | null;
}

const json = (sql: Sql | Transaction, value: unknown) =>
  sql`nullif(${JSON.stringify(value ?? null)}::text::jsonb, 'null')`;

/** @returns false when the workspace already has a queue with this id */
export async function insertQueue(sql: Sql, row: NewQueue): Promise<boolean> {
  const inserted = await sql`
    insert into annotation_queues (tenant_id, queue_id, name, description, rubric_instructions, rubric_items, metadata,
      default_dataset, num_reviewers_per_item, enable_reservations, reservation_minutes, reviewer_access_mode,
      queue_type, comparative_experiment_id, created_at, updated_at)
    values (${row.tenant_id}, ${row.queue_id}, ${row.name}, ${row.description}, ${row.rubric_instructions},
      ${json(sql, row.rubric_items)}, ${json(sql, row.metadata)}, ${row.default_dataset},
      ${row.num_reviewers_per_item}, ${row.enable_reservations}, ${row.reservation_minutes},
      ${row.reviewer_access_mode}, ${row.queue_type}, ${row.comparative_experiment_id}, coalesce(${row.created_at}::text::timestamptz, now()),
      coalesce(${row.updated_at}::text::timestamptz, now()))
    on conflict do nothing returning 1`;
  return inserted.length > 0;
}

export async function findQueue(sql: Sql, tenantId: string, id: string): Promise<string | undefined> {
  const [row] = await sql<{ item: string }[]>`
    select ${buildJsonObject(sql, COLUMNS, WITHOUT_SIZE)}::text as item
    from annotation_queues q where q.tenant_id = ${tenantId} and q.queue_id = ${id}`;
  return row?.item;
}

const SORTABLE: Record<QueueSearch["sort_by"], string> = {
  name: "q.name",
  created_at: "q.created_at",
  updated_at: "q.updated_at",
  total_runs: COLUMNS.total_runs,
};

/** Lists queues. `reviewer`: only queues to which this identity is assigned. @returns a JSON array */
export async function listQueues(
  sql: Sql,
  tenantId: string,
  search: QueueSearch,
  reviewer: string | undefined,
): Promise<string> {
  const { ids, name, name_contains: part, dataset_id: dataset } = search;
  const order = sql.unsafe(`${SORTABLE[search.sort_by]} ${search.sort_by_desc === false ? "asc" : "desc"}, q.queue_id`);
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(item), '[]')::text as items from (
      select ${buildJsonObject(sql, COLUMNS)} as item from annotation_queues q
      where q.tenant_id = ${tenantId}
        and ${search.queue_type === undefined ? sql`true` : sql`q.queue_type = ${search.queue_type}`}
        and ${ids ? sql`q.queue_id = any(${ids}::uuid[])` : sql`true`}
        and ${hasTags(sql, tenantId, "q.queue_id", search.tag_value_id)}
        and ${name === undefined ? sql`true` : sql`q.name = ${name}`}
        and ${part ? sql`strpos(lower(q.name), lower(${part})) > 0` : sql`true`}
        and ${dataset === undefined ? sql`true` : sql`q.default_dataset = ${dataset}`}
        and ${
          reviewer === undefined
            ? sql`true`
            : sql`exists (select 1 from annotation_queue_reviewers a
                where a.tenant_id = q.tenant_id and a.queue_id = q.queue_id and a.identity_id = ${reviewer})`
        }
      order by ${order} limit ${search.limit} offset ${search.offset}) page`;
  return row!.items;
}

/**
 * Lists the queues that contain a run, each once, oldest first. Served by annotation_queue_runs_by_run.
 * @returns a JSON array
 */
export async function listQueuesOfRun(sql: Sql, tenantId: string, runId: string): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(item), '[]')::text as items from (
      select ${buildJsonObject(sql, COLUMNS, WITHOUT_SIZE)} as item
      from annotation_queues q
      where q.tenant_id = ${tenantId} and q.queue_id in (
        select i.queue_id from annotation_queue_runs i where i.tenant_id = ${tenantId} and i.run_id = ${runId})
      order by q.created_at, q.queue_id limit 1000) page`;
  return row!.items;
}

/** @returns false when there is no such queue */
export async function updateQueue(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
  patch: QueuePatch,
): Promise<boolean> {
  const isSet = (name: keyof QueuePatch) => patch[name] !== undefined;
  const updated = await sql`
    update annotation_queues set updated_at = greatest(updated_at, clock_timestamp()),
      name = coalesce(${patch.name ?? null}, name),
      description = ${isSet("description") ? sql`${patch.description!}::text` : sql`description`},
      default_dataset = ${isSet("default_dataset") ? sql`${patch.default_dataset!}::uuid` : sql`default_dataset`},
      num_reviewers_per_item = ${
        isSet("num_reviewers_per_item") ? sql`${patch.num_reviewers_per_item!}::integer` : sql`num_reviewers_per_item`
      },
      enable_reservations = coalesce(${patch.enable_reservations ?? null}, enable_reservations),
      reservation_minutes = coalesce(${patch.reservation_minutes ?? null}, reservation_minutes),
      reviewer_access_mode = coalesce(${patch.reviewer_access_mode ?? null}, reviewer_access_mode),
      rubric_items = ${isSet("rubric_items") ? json(sql, patch.rubric_items) : sql`rubric_items`},
      rubric_instructions = ${
        isSet("rubric_instructions") ? sql`${patch.rubric_instructions!}::text` : sql`rubric_instructions`
      },
      metadata = ${isSet("metadata") ? json(sql, patch.metadata) : sql`metadata`}
    where tenant_id = ${tenantId} and queue_id = ${id} returning 1`;
  return updated.length > 0;
}

/** Deletes queues with their items and reviews; the runs and their feedback stay. @returns the ids of deleted queues */
export async function deleteQueues(sql: Sql, tenantId: string, ids: string[]): Promise<string[]> {
  const rows = await sql<{ queue_id: string }[]>`
    delete from annotation_queues where tenant_id = ${tenantId} and queue_id = any(${ids}::uuid[]) returning queue_id`;
  return rows.map((row) => row.queue_id);
}

export const deleteQueuesOfWorkspace = (sql: Sql | Transaction, tenantId: string): Promise<unknown> =>
  sql`delete from annotation_queues where tenant_id = ${tenantId}`;

/** What a review needs of its queue. */
export interface QueueRow {
  queue_id: string;
  queue_type: "single" | "pairwise";
  comparative_experiment_id: string | null;
  default_dataset: string | null;
  rubric_items: RubricItem[] | null;
}

export async function findQueueRow(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
): Promise<QueueRow | undefined> {
  const [row] = await sql<QueueRow[]>`
    select queue_id, queue_type, comparative_experiment_id, default_dataset, rubric_items from annotation_queues
    where tenant_id = ${tenantId} and queue_id = ${id}`;
  return row;
}
