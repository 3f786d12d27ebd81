import type { Sql, Transaction } from "../../base/db/connect.ts";
import { IS_RESERVED } from "./item-sql.ts";

interface ReviewKey {
  tenantId: string;
  itemId: string;
  identityId: string;
}

/** Reserves an item for the queue's time, by the database's clock. A completed review stays one. */
export const reserveItem = (sql: Transaction, { tenantId, itemId, identityId }: ReviewKey): Promise<unknown> => sql`
  insert into annotation_queue_reviews as v (tenant_id, queue_run_id, identity_id, status, reserved_at, reserved_until)
  select i.tenant_id, i.queue_run_id, ${identityId}, 'viewed', clock_timestamp(),
    clock_timestamp() + make_interval(mins => q.reservation_minutes)
  from annotation_queue_runs i join annotation_queues q on q.tenant_id = i.tenant_id and q.queue_id = i.queue_id
  where i.tenant_id = ${tenantId} and i.queue_run_id = ${itemId}
  on conflict (tenant_id, queue_run_id, identity_id) do update set status = 'viewed',
    reserved_at = excluded.reserved_at, reserved_until = excluded.reserved_until
  where v.status is distinct from 'completed'`;

export const completeReview = (sql: Transaction, { tenantId, itemId, identityId }: ReviewKey): Promise<unknown> => sql`
  insert into annotation_queue_reviews as v (tenant_id, queue_run_id, identity_id, status, completed_at)
  values (${tenantId}, ${itemId}, ${identityId}, 'completed', clock_timestamp())
  on conflict (tenant_id, queue_run_id, identity_id) do update set status = 'completed', reserved_at = null,
    reserved_until = null, completed_at = coalesce(v.completed_at, excluded.completed_at)`;

/** Takes back a review or a reservation. */
export const reopenReview = (sql: Transaction, { tenantId, itemId, identityId }: ReviewKey): Promise<unknown> => sql`
  update annotation_queue_reviews set status = null, reserved_at = null, reserved_until = null, completed_at = null
  where tenant_id = ${tenantId} and queue_run_id = ${itemId} and identity_id = ${identityId}`;

/** Moves an item in the reviewer's order. */
export const moveItem = (
  sql: Transaction,
  { tenantId, itemId, identityId }: ReviewKey,
  addedAt: string,
): Promise<unknown> => sql`
  insert into annotation_queue_reviews (tenant_id, queue_run_id, identity_id, override_added_at)
  values (${tenantId}, ${itemId}, ${identityId}, ${addedAt}::text::timestamptz)
  on conflict (tenant_id, queue_run_id, identity_id) do update set override_added_at = excluded.override_added_at`;

export const noteReviewed = (sql: Transaction, tenantId: string, itemId: string): Promise<unknown> => sql`
  update annotation_queue_runs set last_reviewed_time = clock_timestamp()
  where tenant_id = ${tenantId} and queue_run_id = ${itemId}`;

/**
 * Archives the items of a queue, or one of them, that enough reviewers have completed, and returns the others to the
 * queue. To be called when reviews or the number of reviewers changed.
 */
export const settleItems = (
  sql: Sql | Transaction,
  tenantId: string,
  queueId: string,
  itemId: string | null = null,
): Promise<unknown> => sql`
  update annotation_queue_runs i
  set archived_at = case when s.is_done then clock_timestamp() end
  from (
    select i.queue_run_id, (
      select count(*) from annotation_queue_reviews v
      where v.tenant_id = i.tenant_id and v.queue_run_id = i.queue_run_id and v.status = 'completed'
    ) >= coalesce(q.num_reviewers_per_item, greatest(1, (
      select count(*) from annotation_queue_reviewers a where a.tenant_id = q.tenant_id and a.queue_id = q.queue_id
    ))) as is_done
    from annotation_queues q join annotation_queue_runs i on i.tenant_id = q.tenant_id and i.queue_id = q.queue_id
    where q.tenant_id = ${tenantId} and q.queue_id = ${queueId}
      and (${itemId}::uuid is null or i.queue_run_id = ${itemId})) s
  where i.tenant_id = ${tenantId} and i.queue_run_id = s.queue_run_id and (i.archived_at is not null) <> s.is_done`;

export interface ReviewerProgress {
  id: string;
  name: string | null;
  email: string | null;
  completed: number;
  reserved: number;
}

/** Counts the reviews of each reviewer, and lists the assigned reviewers without any. */
export const countReviews = (sql: Sql, tenantId: string, queueId: string): Promise<ReviewerProgress[]> =>
  sql<ReviewerProgress[]>`
    with reviews as (
      select v.identity_id, count(*) filter (where v.status = 'completed')::int as completed,
        count(*) filter (where ${sql.unsafe(IS_RESERVED)})::int as reserved
      from annotation_queues q
      join annotation_queue_runs i on i.tenant_id = q.tenant_id and i.queue_id = q.queue_id
      join annotation_queue_reviews v on v.tenant_id = i.tenant_id and v.queue_run_id = i.queue_run_id
      where q.tenant_id = ${tenantId} and q.queue_id = ${queueId} and v.status is not null
      group by v.identity_id
    ), people as (
      select identity_id from reviews
      union
      select identity_id from annotation_queue_reviewers where tenant_id = ${tenantId} and queue_id = ${queueId})
    select p.identity_id as id, coalesce(u.full_name, k.description) as name, u.email,
      coalesce(r.completed, 0) as completed, coalesce(r.reserved, 0) as reserved
    from people p
    left join reviews r on r.identity_id = p.identity_id
    left join workspace_members m on m.id = p.identity_id and m.workspace_id = ${tenantId}
    left join users u on u.id = coalesce(m.user_id, p.identity_id)
    left join api_keys k on k.id = p.identity_id
    order by completed desc, p.identity_id limit 1000`;

export interface JudgementRow {
  key: string;
  run_id: string;
  judge: string;
  category: string;
}

/**
 * Returns the latest judgement of each person on each item and key, of the items that several have judged. Judgements
 * of models and evaluators are not those of reviewers. Reviews by a key without a user are that key's; other feedback
 * without a user has no known author, and counts as one person's. Served by feedback_by_run.
 */
export const listJudgements = (
  sql: Sql,
  tenantId: string,
  queueId: string,
  limit: number,
): Promise<JudgementRow[]> => sql<JudgementRow[]>`
  select key, run_id, judge, category from (
    select latest.*, count(*) over (partition by key, run_id) as judges from (
      select distinct on (f.key, f.run_id, author.judge) f.key, f.run_id, author.judge,
        coalesce(nullif(f.value, 'null')::text, f.score::text) as category
      from annotation_queue_runs i join feedback f on f.tenant_id = i.tenant_id and f.run_id = i.run_id
      cross join lateral (select coalesce(f.user_id::text, f.source_metadata ->> 'reviewer_id', '') as judge) author
      where i.tenant_id = ${tenantId} and i.queue_id = ${queueId} and f.source_type in ('api', 'app')
        and (f.score is not null or nullif(f.value, 'null') is not null)
      order by f.key, f.run_id, author.judge, f.modified_at desc, f.feedback_id desc) latest) judged
  where judges > 1 order by key, run_id, judge limit ${limit}`;

/** Lists the keys of feedback on the queue's runs. */
export const listFeedbackKeys = async (sql: Sql, tenantId: string, queueId: string): Promise<string[]> =>
  (
    await sql<{ key: string }[]>`
      select distinct f.key from annotation_queue_runs i
      join feedback f on f.tenant_id = i.tenant_id and f.run_id = i.run_id
      where i.tenant_id = ${tenantId} and i.queue_id = ${queueId} order by 1 limit 500`
  ).map((row) => row.key);
