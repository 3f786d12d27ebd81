import { utcText } from "../../base/db/utc-text.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { type ExampleQuery, matchingExamples } from "../examples/sql.ts";
import type { JobEvaluator, JobOptions, ListQuery, Target } from "./schema.ts";

export interface NewJob {
  tenant_id: string;
  project_id: string;
  dataset_id: string;
  dataset_as_of: string;
  target: Target;
  evaluators: JobEvaluator[];
  options: JobOptions;
  metadata: Record<string, unknown>;
  repetitions: number;
  total: number;
  created_by: string | null;
}

export const insertJob = (tx: Transaction, job: NewJob): PromiseLike<unknown> => tx`
  insert into experiment_jobs (tenant_id, project_id, dataset_id, dataset_as_of, target, evaluators, options, metadata,
    repetitions, total, status, created_by)
  values (${job.tenant_id}, ${job.project_id}, ${job.dataset_id}, ${job.dataset_as_of}::text::timestamptz,
    ${JSON.stringify(job.target)}::text::jsonb, ${JSON.stringify(job.evaluators)}::text::jsonb,
    ${JSON.stringify(job.options)}::text::jsonb, ${JSON.stringify(job.metadata)}::text::jsonb, ${job.repetitions},
    ${job.total}, 'pending', ${job.created_by})`;

/** Inserts the rows of an experiment: all examples once, then again for each repetition. */
export const insertRows = (
  tx: Transaction,
  sql: Sql,
  { tenant_id, project_id, repetitions }: Pick<NewJob, "tenant_id" | "project_id" | "repetitions">,
  examples: ExampleQuery,
  limit: number,
): PromiseLike<{ count: number }> => tx`
  with chosen as materialized (
    select x.example_id, row_number() over (order by x.created_at, x.example_id) - 1 as i from dataset_examples x
    where ${matchingExamples(sql, tenant_id, examples)} order by x.created_at, x.example_id limit ${limit})
  insert into experiment_rows (tenant_id, project_id, row_index, example_id, repetition, status)
  select ${tenant_id}, ${project_id}, (r - 1) * (select count(*) from chosen) + i, example_id, r, 'pending'
  from chosen cross join generate_series(1, ${repetitions}::int) r`;

/** Returns the database's time, as the version of what exists now. */
export async function selectNow(sql: Sql): Promise<string> {
  const [row] = await sql<{ at: string }[]>`
    select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`;
  return row!.at;
}

/** Returns the time of the newest of these examples, which the SDKs record as the dataset's version. */
export async function selectVersion(sql: Sql, tenantId: string, examples: ExampleQuery): Promise<string | null> {
  const [row] = await sql<{ at: string | null }[]>`
    select to_char(max(x.modified_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') as at
    from dataset_examples x where ${matchingExamples(sql, tenantId, examples)}`;
  return row!.at;
}

export async function findDatasetByName(
  sql: Sql,
  tenantId: string,
  name: string,
): Promise<{ dataset_id: string; name: string } | undefined> {
  const [row] = await sql<{ dataset_id: string; name: string }[]>`
    select dataset_id, name from datasets where tenant_id = ${tenantId} and name = ${name}`;
  return row;
}

/** Experiment with the sums of its rows; `sums` replace them where they are stored. */
export interface JobRow {
  id: string;
  status: string;
  created_at: string;
  [field: string]: unknown;
}

const COLUMNS = `j.project_id as id, p.name, p.description, j.dataset_id, d.name as dataset_name,
  ${utcText("j.dataset_as_of")} as dataset_as_of, j.target, j.evaluators, j.options, j.metadata, j.repetitions, j.status,
  j.reason, ${utcText("j.created_at")} as created_at, ${utcText("j.started_at")} as started_at, ${utcText("j.ended_at")} as ended_at`;

const JOINS = `join projects p on p.tenant_id = j.tenant_id and p.project_id = j.project_id
  left join datasets d on d.tenant_id = j.tenant_id and d.dataset_id = j.dataset_id`;

/**
 * Sums of the rows of experiment `j`, served by experiment_rows' primary key. Nothing is read for one whose sums are
 * stored.
 */
const SUMS = `
  cross join lateral (
    select count(*)::int as total,
      count(*) filter (where r.status in ('done', 'failed', 'unjudged'))::int as done,
      count(*) filter (where r.status = 'failed')::int as failed,
      count(*) filter (where r.status in ('running', 'ran'))::int as running,
      count(*) filter (where r.status = 'unjudged')::int as judge_failures,
      count(*) filter (where r.ended_at > now() - interval '2 minutes')::int as recent,
      extract(epoch from now() - greatest(min(r.ended_at) filter (where r.ended_at > now() - interval '2 minutes'),
        now() - interval '2 minutes'))::float8 as recent_seconds,
      percentile_cont(0.5) within group (order by r.latency_ms) as p50,
      percentile_cont(0.95) within group (order by r.latency_ms) as p95,
      percentile_cont(0.99) within group (order by r.latency_ms) as p99,
      coalesce(sum(r.total_tokens), 0)::float8 as total_tokens,
      trim_scale(sum(r.cost_usd))::text as cost_usd, trim_scale(sum(r.judge_cost_usd))::text as judge_cost_usd
    from experiment_rows r where r.tenant_id = j.tenant_id and r.project_id = j.project_id and j.sums is null) s
  cross join lateral (
    select coalesce(json_object_agg(key, json_build_object('n', n, 'mean', mean)), '{}') as scores from (
      select e.key, count(*)::int as n, avg((e.value #>> '{}')::float8) as mean
      from experiment_rows r cross join lateral jsonb_each(coalesce(r.scores, '{}')) e
      where r.tenant_id = j.tenant_id and r.project_id = j.project_id and j.sums is null and jsonb_typeof(e.value) = 'number'
      group by e.key order by e.key limit 200) k) k`;

export async function findJob(sql: Sql, tenantId: string, projectId: string): Promise<JobRow | undefined> {
  const [row] = await sql<JobRow[]>`
    select ${sql.unsafe(`${COLUMNS}, s.*, k.scores, j.sums from experiment_jobs j ${JOINS} ${SUMS}`)}
    where j.tenant_id = ${tenantId} and j.project_id = ${projectId}`;
  return row;
}

/** Stores the sums of an experiment that has ended. */
export async function storeSums(sql: Sql, { tenant_id, project_id }: Pick<NewJob, "tenant_id" | "project_id">) {
  await sql`
    update experiment_jobs e set sums = (
      select to_jsonb(all_sums) from (
        select ${sql.unsafe(`s.*, k.scores from experiment_jobs j ${SUMS}`)}
        where j.tenant_id = ${tenant_id} and j.project_id = ${project_id}) all_sums)
    where tenant_id = ${tenant_id} and project_id = ${project_id} and status not in ('pending', 'running')
      and leased_until is null`;
}

/** Lists experiments, newest first. */
export const listJobs = (
  sql: Sql,
  tenantId: string,
  { dataset, status, name, limit, offset }: ListQuery,
): Promise<(JobRow & { full_count: number })[]> => sql<(JobRow & { full_count: number })[]>`
  with page as materialized (
    select j.tenant_id, j.project_id, count(*) over ()::int as full_count
    from experiment_jobs j join projects p on p.tenant_id = j.tenant_id and p.project_id = j.project_id
    where j.tenant_id = ${tenantId} and ${dataset === undefined ? sql`true` : sql`j.dataset_id = ${dataset}`}
      and ${status === undefined ? sql`true` : sql`j.status = ${status}`}
      and ${name === undefined ? sql`true` : sql`p.name = ${name}`}
    order by j.created_at desc, j.project_id desc limit ${limit} offset ${offset})
  select ${sql.unsafe(`${COLUMNS}, s.*, k.scores, j.sums, page.full_count from page
    join experiment_jobs j using (tenant_id, project_id) ${JOINS} ${SUMS}`)}
  order by j.created_at desc, j.project_id desc`;

export async function findJobStatus(sql: Sql, tenantId: string, projectId: string): Promise<string | undefined> {
  const [row] = await sql<{ status: string }[]>`
    select status from experiment_jobs where tenant_id = ${tenantId} and project_id = ${projectId}`;
  return row?.status;
}

/** Returns the ids of at most two evaluators with this name. */
export async function findEvaluatorsByName(sql: Sql, tenantId: string, name: string): Promise<string[]> {
  const found = await sql<{ evaluator_id: string }[]>`
    select evaluator_id from evaluators where tenant_id = ${tenantId} and name = ${name} limit 2`;
  return found.map((row) => row.evaluator_id);
}
