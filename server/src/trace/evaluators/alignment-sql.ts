import type { Sql } from "../../base/db/connect.ts";
import { isoTime } from "../datasets/sql.ts";
import type { AlignmentQuery } from "./wire-schema.ts";

export interface ComparedRow {
  feedback_id: string;
  run_id: string;
  session_id: string | null;
  trace_id: string | null;
  start_time: string | null;
  key: string;
  version: number;
  score: number | null;
  value: unknown;
  comment: string | null;
  correction: unknown;
  judge_run_id: string | null;
  person_score: number | null;
  person_value: unknown;
  person_comment: string | null;
  person_name: string | null;
}

/** Judgements that are looked through for people's labels, the newest. */
const MAX_JUDGED = 100_000;

/**
 * Selects an evaluator's judgements that people judged too, newest first: by feedback of the same key on the same run, or
 * by a correction. Of several by one version on a run, and of several by people, the newest counts. Served by
 * feedback_by_evaluator, then feedback_by_run.
 */
export async function selectCompared(
  sql: Sql,
  tenantId: string,
  evaluatorId: string,
  query: Omit<AlignmentQuery, "limit" | "offset">,
  limit: number,
): Promise<ComparedRow[]> {
  const { annotation_queue_id: queue, dataset_id: dataset, session_id: session, feedback_key: key, version } = query;
  const number = sql`(f.source_metadata ->> 'version')`;
  return sql<ComparedRow[]>`
    with judged as (
      select distinct on (f.run_id, f.key, ${number}) f.feedback_id, f.run_id, f.session_id, f.trace_id,
        ${sql.unsafe(isoTime("f.start_time"))} as start_time, f.key, ${number}::int as version, f.score, f.value,
        f.comment, f.correction, f.source_metadata ->> 'judge_run_id' as judge_run_id, f.created_at
      from (select f.* from feedback f
        where f.tenant_id = ${tenantId} and f.source_type = 'model' and f.source_metadata ->> 'evaluator_id' is not null
          and left(f.source_metadata ->> 'evaluator_id', 36) = ${evaluatorId}
          and f.run_id is not null and ${number} ~ '^[0-9]{1,9}$'
          and ${key === undefined ? sql`true` : sql`f.key = ${key}`}
          and ${version === undefined ? sql`true` : sql`${number} = ${String(version)}`}
          and ${session === undefined ? sql`true` : sql`f.session_id = ${session}`}
          and ${
            dataset === undefined
              ? sql`true`
              : sql`f.session_id in (select project_id from projects
                  where tenant_id = ${tenantId} and reference_dataset_id = ${dataset})`
          }
          and ${
            queue === undefined
              ? sql`true`
              : sql`f.run_id in (select run_id from annotation_queue_runs
                  where tenant_id = ${tenantId} and queue_id = ${queue})`
          }
        order by f.created_at desc limit ${MAX_JUDGED}) f
      order by f.run_id, f.key, ${number}, f.created_at desc)
    select j.*, p.score as person_score, p.value as person_value, p.comment as person_comment, p.name as person_name
    from judged j
    left join lateral (
      select f.score, f.value, f.comment, coalesce(u.full_name, u.email) as name
      from feedback f left join users u on u.id = f.user_id
      where f.tenant_id = ${tenantId} and f.run_id = j.run_id and f.key = j.key and f.source_type in ('api', 'app')
        and (f.score is not null or f.value is not null)
      order by f.created_at desc limit 1) p on true
    where p.score is not null or p.value is not null or j.correction is not null
    order by j.created_at desc, j.feedback_id limit ${limit}`;
}

/** Returns runs that an evaluator judged, newest first, for people to label. */
export async function selectJudgedRuns(
  sql: Sql,
  tenantId: string,
  evaluatorId: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ run_id: string }[]>`
    select run_id from (
      select distinct on (run_id) run_id, created_at from feedback
      where tenant_id = ${tenantId} and source_type = 'model' and source_metadata ->> 'evaluator_id' is not null
        and left(source_metadata ->> 'evaluator_id', 36) = ${evaluatorId} and run_id is not null
      order by run_id, created_at desc) newest
    order by created_at desc limit ${limit}`;
  return rows.map((row) => row.run_id);
}

export async function findAlignmentQueue(sql: Sql, tenantId: string, evaluatorId: string): Promise<string | null> {
  const [row] = await sql<{ id: string | null }[]>`
    select q.queue_id as id from evaluators e
    join annotation_queues q on q.tenant_id = e.tenant_id and q.queue_id = e.annotation_queue_id
    where e.tenant_id = ${tenantId} and e.evaluator_id = ${evaluatorId}`;
  return row?.id ?? null;
}

export async function setAlignmentQueue(
  sql: Sql,
  tenantId: string,
  evaluatorId: string,
  queueId: string,
): Promise<void> {
  await sql`
    update evaluators set annotation_queue_id = ${queueId} where tenant_id = ${tenantId} and evaluator_id = ${evaluatorId}`;
}
