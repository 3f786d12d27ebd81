import type { Sql, Transaction } from "../../base/db/connect.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import type { FeedbackFilter, FeedbackPatch } from "./schema.ts";

/** Insert parameters, by column name. Times are ISO text. */
export interface NewFeedback {
  tenant_id: string;
  feedback_id: string;
  key: string;
  run_id: string | null;
  session_id: string | null;
  trace_id: string | null;
  start_time: string | null;
  score: number | null;
  value: unknown;
  comment: string | null;
  correction: unknown;
  extra: Record<string, unknown> | null;
  source_type: string;
  source_metadata: Record<string, unknown> | null;
  user_id: string | null;
  comparative_experiment_id: string | null;
  feedback_group_id: string | null;
  token_id: string | null;
  /** Hexadecimal. */
  token_parameters: string | null;
  created_at: string | null;
  extends_retention: boolean;
}

/** Feedback ids are the callers' own: two workspaces may use the same one. */
export type WrittenFeedback = Pick<NewFeedback, "tenant_id" | "feedback_id" | "run_id">;

const time = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')`;

/** Columns of `feedback f` by wire name. Authors' names are read only on request. */
const columns = (userNames = false) => ({
  id: "f.feedback_id",
  created_at: time("f.created_at"),
  modified_at: time("f.modified_at"),
  key: "f.key",
  score: "f.score",
  value: "f.value",
  comment: "f.comment",
  correction: "f.correction",
  run_id: "f.run_id",
  session_id: "f.session_id",
  trace_id: "f.trace_id",
  start_time: time("f.start_time"),
  is_root: "f.is_root",
  feedback_source: `json_build_object('type', f.source_type, 'metadata', f.source_metadata, 'user_id', f.user_id,
    'ls_user_id', f.user_id, 'user_name',
    ${userNames ? "(select coalesce(full_name, email) from users where users.id = f.user_id)" : "null"})`,
  comparative_experiment_id: "f.comparative_experiment_id",
  feedback_group_id: "f.feedback_group_id",
  extra: "f.extra",
  feedback_thread_id: "null",
});

/**
 * Inserts feedback, or replaces feedback with the same id: clients retry when they miss the response. The run cannot be
 * changed, because the copy in ClickHouse is sorted by it; such a row is left alone.
 *
 * @returns the rows that hold the feedback now, in no order
 */
export async function upsertFeedback(sql: Sql | Transaction, rows: NewFeedback[]): Promise<WrittenFeedback[]> {
  return sql<WrittenFeedback[]>`
    insert into feedback as f (tenant_id, feedback_id, key, run_id, session_id, trace_id, start_time, score, value,
      comment, correction, extra, source_type, source_metadata, user_id, comparative_experiment_id, feedback_group_id,
      created_at, extends_retention, attach_at)
    select tenant_id, feedback_id, key, run_id, session_id, trace_id, start_time, score, nullif(value, 'null'),
      comment, nullif(correction, 'null'), nullif(extra, 'null'), source_type, nullif(source_metadata, 'null'), user_id,
      comparative_experiment_id, feedback_group_id, coalesce(created_at, now()),
      extends_retention, case when run_id is not null then now() end
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as new (tenant_id uuid, feedback_id uuid, key text,
      run_id uuid, session_id uuid, trace_id uuid, start_time timestamptz, score float8, value jsonb, comment text,
      correction jsonb, extra jsonb, source_type text, source_metadata jsonb, user_id uuid,
      comparative_experiment_id uuid, feedback_group_id uuid, created_at timestamptz, extends_retention boolean)
    order by tenant_id, feedback_id
    on conflict (tenant_id, feedback_id) do update set key = excluded.key, score = excluded.score,
      value = excluded.value, comment = excluded.comment, correction = excluded.correction, extra = excluded.extra,
      source_type = excluded.source_type, source_metadata = excluded.source_metadata, user_id = excluded.user_id,
      comparative_experiment_id = excluded.comparative_experiment_id, feedback_group_id = excluded.feedback_group_id,
      session_id = case when f.attach_at is null then f.session_id else coalesce(excluded.session_id, f.session_id) end,
      extends_retention = excluded.extends_retention,
      attach_at = case when f.attach_at is null and excluded.extends_retention and not f.extends_retention then now()
        else f.attach_at end,
      modified_at = now()
      where f.run_id is not distinct from excluded.run_id
    returning f.tenant_id, f.feedback_id, f.run_id`;
}

/** Inserts or updates feedback given by a token. feedback_by_token_parameters resolves concurrent clicks. */
export async function upsertTokenFeedback(sql: Sql, row: NewFeedback): Promise<void> {
  await sql`
    insert into feedback (tenant_id, feedback_id, key, run_id, score, value, comment, correction, source_type,
      source_metadata, token_id, token_parameters, attach_at)
    values (${row.tenant_id}, ${row.feedback_id}, ${row.key}, ${row.run_id}, ${row.score},
      nullif(${JSON.stringify(row.value)}::text::jsonb, 'null'), ${row.comment},
      nullif(${JSON.stringify(row.correction)}::text::jsonb, 'null'), ${row.source_type},
      nullif(${JSON.stringify(row.source_metadata)}::text::jsonb, 'null'), ${row.token_id},
      decode(${row.token_parameters}, 'hex'), now())
    on conflict (token_id, token_parameters) where token_parameters is not null
    do update set score = excluded.score, value = excluded.value, comment = excluded.comment,
      correction = excluded.correction, modified_at = now()`;
}

/** Returns the JSON text of several feedbacks, in order; undefined for one that does not exist. */
export async function findFeedbacks(
  sql: Sql,
  keys: { tenantId: string; id: string }[],
  userNames?: boolean,
): Promise<(string | undefined)[]> {
  const found = await sql<{ tenant_id: string; feedback_id: string; item: string }[]>`
    select f.tenant_id, f.feedback_id, ${buildJsonObject(sql, columns(userNames))}::text as item
    from unnest(${keys.map((key) => key.tenantId)}::uuid[], ${keys.map((key) => key.id)}::uuid[])
      as wanted (tenant_id, feedback_id)
    join feedback f on f.tenant_id = wanted.tenant_id and f.feedback_id = wanted.feedback_id`;
  const items = new Map(found.map((row) => [`${row.tenant_id} ${row.feedback_id}`, row.item]));
  return keys.map(({ tenantId, id }) => items.get(`${tenantId} ${id}`.toLowerCase()));
}

/** Returns the comparisons that belong to the workspace; references to others are not allowed. */
export async function findComparativeExperiments(sql: Sql, tenantId: string, ids: string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select comparative_experiment_id as id from comparative_experiments
    where tenant_id = ${tenantId} and comparative_experiment_id = any(${ids}::uuid[])`;
  return new Set(rows.map((row) => row.id));
}

export const has = (sql: Sql, column: string, isPresent: boolean | undefined) =>
  isPresent === undefined ? sql`true` : sql`(${sql.unsafe(column)} is not null) = ${isPresent}`;

export const matchesAny = (sql: Sql, column: string, type: "uuid" | "text", values: string[] | undefined) =>
  values === undefined ? sql`true` : sql`${sql.unsafe(column)} = any(${values}::${sql.unsafe(type)}[])`;

/**
 * Lists feedback, newest first. Served by feedback_by_run, feedback_by_session or feedback_by_creation. @returns a JSON
 * array
 */
export async function listFeedback(
  sql: Sql,
  tenantId: string,
  filter: Partial<FeedbackFilter>,
  page: { limit: number; offset: number },
): Promise<string> {
  const { run, key, session, source, user, level, min_created_at: from, max_created_at: to } = filter;
  const comparative = filter.comparative_experiment_id;
  const [row] = await sql<{ items: string }[]>`
    with page as materialized (
      select f.* from feedback f
      where f.tenant_id = ${tenantId}
        and ${matchesAny(sql, "f.run_id", "uuid", run)}
        and ${matchesAny(sql, "f.key", "text", key)}
        and ${matchesAny(sql, "f.session_id", "uuid", session)}
        and ${matchesAny(sql, "f.source_type", "text", source)}
        and ${matchesAny(sql, "f.user_id", "uuid", user)}
        and ${has(sql, "f.comment", filter.has_comment)}
        and ${has(sql, "f.score", filter.has_score)}
        and ${level === undefined ? sql`true` : sql`(f.run_id is not null) = ${level === "run"}`}
        and ${from === undefined ? sql`true` : sql`f.created_at >= ${from}::text::timestamptz`}
        and ${to === undefined ? sql`true` : sql`f.created_at <= ${to}::text::timestamptz`}
        and ${comparative === undefined ? sql`true` : sql`f.comparative_experiment_id = ${comparative}`}
      order by f.created_at desc, f.feedback_id desc
      limit ${page.limit} offset ${page.offset})
    select coalesce(json_agg(${buildJsonObject(sql, columns(filter.include_user_names))}
      order by f.created_at desc, f.feedback_id desc), '[]')::text as items
    from page f`;
  return row!.items;
}

/** Returns feedback by run as JSON arrays, newest first, at most 100 per run; of one comparison or all. */
export async function listFeedbackOfRuns(
  sql: Sql,
  tenantId: string,
  runIds: string[],
  comparisonId: string | null | undefined,
): Promise<Map<string, string>> {
  const rows = await sql<{ run_id: string; items: string }[]>`
    select f.run_id, json_agg(${buildJsonObject(sql, columns())} order by f.created_at desc, f.feedback_id desc)::text as items
    from (select *, row_number() over (partition by run_id order by created_at desc, feedback_id desc) as place
          from feedback where tenant_id = ${tenantId} and run_id = any(${runIds}::uuid[])
            and ${comparisonId ? sql`comparative_experiment_id = ${comparisonId}` : sql`true`}) f
    where f.place <= 100 group by f.run_id`;
  return new Map(rows.map((row) => [row.run_id, row.items]));
}

/**
 * Updates feedback. A correction of an evaluator's judgement is recorded for `trace/evaluators/correction-collector.ts`.
 * @returns false when there is no such feedback
 */
export async function updateFeedback(sql: Sql, tenantId: string, id: string, patch: FeedbackPatch): Promise<boolean> {
  const isSet = (name: keyof FeedbackPatch) => name in patch && patch[name] !== undefined;
  const json = (value: unknown) => sql`nullif(${JSON.stringify(value ?? null)}::text::jsonb, 'null')`;
  const changed = await sql`
    with changed as (update feedback set modified_at = now(),
      score = ${isSet("score") ? sql`${patch.score!}::float8` : sql`score`},
      value = ${isSet("value") ? json(patch.value) : sql`value`},
      comment = ${isSet("comment") ? sql`${patch.comment!}::text` : sql`comment`},
      correction = ${isSet("correction") ? json(patch.correction) : sql`correction`}
    where tenant_id = ${tenantId} and feedback_id = ${id}
    returning tenant_id, feedback_id, source_type, source_metadata),
    corrected as (insert into corrected_judgements as c (tenant_id, feedback_id)
      select tenant_id, feedback_id from changed
      where ${isSet("correction")} and source_type = 'model' and source_metadata ->> 'evaluator_id' is not null
      on conflict (tenant_id, feedback_id) do update
        set changed_at = clock_timestamp(), attempts = 0, available_at = now())
    select 1 from changed`;
  return changed.length > 0;
}

/** @returns false when there was none */
export async function deleteFeedback(sql: Sql | Transaction, tenantId: string, id: string): Promise<boolean> {
  const deleted = await sql`delete from feedback where tenant_id = ${tenantId} and feedback_id = ${id} returning 1`;
  return deleted.length > 0;
}

export async function findFeedbackKey(sql: Sql, tenantId: string, id: string): Promise<string | undefined> {
  const [row] = await sql<{ key: string }[]>`
    select key from feedback where tenant_id = ${tenantId} and feedback_id = ${id}`;
  return row?.key;
}
