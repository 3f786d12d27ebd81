import type { Sql, Transaction } from "../../base/db/connect.ts";
import { feedbackLabel } from "./stats.ts";

/** Change that is not yet in ClickHouse, with the current feedback; `key` is null if it was deleted. */
export interface ChangeRow {
  tenant_id: string;
  feedback_id: string;
  run_id: string | null;
  /** Bigint as text. */
  seq: string;
  key: string | null;
  session_id: string | null;
  trace_id: string | null;
  score: number | null;
  value: string | null;
  comment: string | null;
  source_type: string | null;
  failed: boolean | null;
  /** `YYYY-MM-DD hh:mm:ss.ffffff`, as ClickHouse reads it. */
  created_at: string | null;
}

/** Reads changes and feedback in one snapshot: the feedback is at least as new as `seq`. */
export async function selectChanges(sql: Sql, limit: number): Promise<ChangeRow[]> {
  return sql<ChangeRow[]>`
    select c.tenant_id, c.feedback_id, c.run_id, c.seq::text, f.key, f.session_id, f.trace_id, f.score, f.comment,
      ${sql.unsafe(feedbackLabel("f.value"))} as value, f.source_type,
      coalesce(f.extra ->> 'error' = 'true', false) as failed,
      to_char(f.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as created_at
    from feedback_changes c
    left join feedback f on f.tenant_id = c.tenant_id and f.feedback_id = c.feedback_id
    order by c.seq limit ${limit}`;
}

/**
 * Deletes changes that are in ClickHouse, unless the same feedback has changed again. Skips rows locked by a writer,
 * which get a newer number anyway; waiting for them could deadlock.
 */
export async function deleteChanges(sql: Sql | Transaction, changes: ChangeRow[]): Promise<void> {
  await sql`
    delete from feedback_changes where (tenant_id, feedback_id) in (
      select c.tenant_id, c.feedback_id
      from feedback_changes c
      join unnest(${changes.map((change) => change.tenant_id)}::uuid[], ${changes.map((change) => change.feedback_id)}::uuid[],
                  ${changes.map((change) => change.seq)}::text[]) as done (tenant_id, feedback_id, seq)
        on c.tenant_id = done.tenant_id and c.feedback_id = done.feedback_id and c.seq = done.seq::bigint
      for update of c skip locked)`;
}

export interface UnattachedRow {
  tenant_id: string;
  run_id: string;
  extends_retention: boolean;
}

/**
 * Claims feedback whose run is still unknown, and schedules the next lookup: after half of the feedback's age, between
 * 1 and 30 seconds; after ten minutes if it is older than an hour; never after 30 days.
 */
export async function claimUnattached(sql: Sql, limit: number): Promise<UnattachedRow[]> {
  return sql<UnattachedRow[]>`
    update feedback f set attach_tries = f.attach_tries + 1, attach_at = case
        when f.created_at < now() - interval '30 days' and f.attach_tries > 0 then null
        when f.created_at < now() - interval '1 hour' then now() + interval '10 minutes'
        else now() + greatest(interval '1 second', least(interval '30 seconds', (now() - f.created_at) / 2)) end
    from (select tenant_id, feedback_id from feedback where attach_at <= now()
          order by attach_at limit ${limit} for update skip locked) due
    where f.tenant_id = due.tenant_id and f.feedback_id = due.feedback_id
    returning f.tenant_id, f.run_id, f.extends_retention`;
}

/** Attaches feedback to runs that have arrived. `start_time` is in UTC, without a zone. */
export async function attachFeedback(
  sql: Sql,
  tenantId: string,
  runs: { id: string; project_id: string; trace_id: string; start_time: string; is_root: boolean }[],
): Promise<void> {
  await sql`
    update feedback f set session_id = r.project_id, trace_id = r.trace_id,
      start_time = r.start_time at time zone 'UTC', is_root = r.is_root, attach_at = null
    from jsonb_to_recordset(${JSON.stringify(runs)}::text::jsonb) as r (id uuid, project_id uuid, trace_id uuid,
      start_time timestamp, is_root boolean)
    where f.tenant_id = ${tenantId} and f.run_id = r.id and f.attach_at is not null`;
}
