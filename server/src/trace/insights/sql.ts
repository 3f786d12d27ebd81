import { utcText } from "../../base/db/utc-text.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { JobOptions } from "./options.ts";
import type { Report } from "./schema.ts";

export type State = "queued" | "running" | "success" | "stopped" | "cancelled" | "error";
export type Stage = "sample" | "embed" | "cluster" | "name" | "measure" | "done";

export interface JobRow {
  id: string;
  project_id: string;
  name: string;
  config_id: string | null;
  options: JobOptions;
  state: State;
  stage: Stage;
  reason: string | null;
  error: string | null;
  budget_usd: string | null;
  spent_usd: string;
  calls: number;
  tokens: number;
  population: number | null;
  population_failed: number | null;
  sampled: number | null;
  report: Report | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  /** Progress. */
  summarized: number;
  embedded: number;
  clusters: number;
  named: number;
  /** Clusters by level. */
  shape: Record<string, number> | null;
}

const COLUMNS = `j.job_id as id, j.project_id, j.name, j.config_id, j.options, j.state, j.stage, j.reason, j.error,
  trim_scale(j.budget_usd)::text as budget_usd, trim_scale(j.spent_usd)::text as spent_usd, j.calls,
  j.tokens::float8 as tokens, j.population::float8 as population, j.population_failed::float8 as population_failed,
  j.sampled, j.report, ${utcText("j.created_at")} as created_at, ${utcText("j.started_at")} as started_at,
  ${utcText("j.ended_at")} as ended_at, r.summarized, r.embedded, c.clusters, c.named, c.shape`;

const PROGRESS = `
  cross join lateral (
    select count(*) filter (where summary is not null)::int as summarized,
      count(*) filter (where embedding is not null)::int as embedded
    from insight_runs where tenant_id = j.tenant_id and job_id = j.job_id
  ) r
  cross join lateral (
    select coalesce(sum(n), 0)::int as clusters, coalesce(sum(named), 0)::int as named,
      jsonb_object_agg(level, n) as shape
    from (
      select level, count(*)::int as n, count(*) filter (where named_by = 'model') as named
      from insight_clusters where tenant_id = j.tenant_id and job_id = j.job_id group by level
    ) levels
  ) c`;

export const listJobs = (
  sql: Sql,
  tenantId: string,
  projectId: string,
  { limit, offset, config }: { limit: number; offset: number; config?: string | undefined },
): Promise<JobRow[]> => sql<JobRow[]>`
  select ${sql.unsafe(COLUMNS)}
  from (
    select * from insight_jobs
    where tenant_id = ${tenantId} and project_id = ${projectId}
      and (${config ?? null}::uuid is null or config_id = ${config ?? null}::uuid)
    order by created_at desc, job_id desc limit ${limit} offset ${offset}
  ) j ${sql.unsafe(PROGRESS)}
  order by j.created_at desc, j.job_id desc`;

export async function findJob(
  sql: Sql | Transaction,
  tenantId: string,
  projectId: string,
  id: string,
): Promise<JobRow | undefined> {
  const [row] = await sql<JobRow[]>`
    select ${sql.unsafe(COLUMNS)} from insight_jobs j ${sql.unsafe(PROGRESS)}
    where j.tenant_id = ${tenantId} and j.project_id = ${projectId} and j.job_id = ${id}`;
  return row;
}

export interface NewJob {
  id: string;
  project_id: string;
  config_id: string | null;
  name: string;
  options: JobOptions;
  series: string;
  budget_usd: string | null;
  requested_by: string;
}

/** Inserts a job. @returns false when the project has `max` jobs that wait or run */
export async function insertJob(sql: Sql, tenantId: string, job: NewJob, max: number): Promise<boolean> {
  const rows = await sql`
    insert into insight_jobs (tenant_id, job_id, project_id, config_id, name, options, series, state, stage, budget_usd,
      requested_by)
    select ${tenantId}, ${job.id}, ${job.project_id}, ${job.config_id}, ${job.name},
      ${JSON.stringify(job.options)}::text::jsonb, ${job.series}, 'queued', 'sample',
      ${job.budget_usd}::text::numeric, ${job.requested_by}
    where (
      select count(*) from insight_jobs
      where tenant_id = ${tenantId} and project_id = ${job.project_id} and state in ('queued', 'running')
    ) < ${max}
    returning 1`;
  return rows.length > 0;
}

export const renameJob = async (sql: Sql, tenantId: string, projectId: string, id: string, name: string) =>
  (
    await sql`
      update insight_jobs set name = ${name}
      where tenant_id = ${tenantId} and project_id = ${projectId} and job_id = ${id} returning 1`
  ).length > 0;

export const deleteJob = async (sql: Sql, tenantId: string, projectId: string, id: string): Promise<boolean> =>
  (
    await sql`
      delete from insight_jobs where tenant_id = ${tenantId} and project_id = ${projectId} and job_id = ${id}
      returning 1`
  ).length > 0;

/** Cancels a job that waits or runs; its process notices at the next renewal. @returns whether it did */
export const cancelJob = async (sql: Sql, tenantId: string, projectId: string, id: string): Promise<boolean> =>
  (
    await sql`
      update insight_jobs set state = 'cancelled', reason = 'cancelled', ended_at = now()
      where tenant_id = ${tenantId} and project_id = ${projectId} and job_id = ${id} and state in ('queued', 'running')
      returning 1`
  ).length > 0;

/** Resumes a job that ended without success, where it ended. @returns whether it did */
export const resumeJob = async (
  sql: Sql,
  tenantId: string,
  projectId: string,
  id: string,
  budget: string | null | undefined,
): Promise<boolean> =>
  (
    await sql`
      update insight_jobs set state = 'queued', reason = null, error = null, ended_at = null, failures = 0,
        not_before = now(), budget_usd = case when ${budget !== undefined} then ${budget ?? null}::text::numeric
          else budget_usd end
      where tenant_id = ${tenantId} and project_id = ${projectId} and job_id = ${id}
        and state in ('stopped', 'cancelled', 'error')
      returning 1`
  ).length > 0;
