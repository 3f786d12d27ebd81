/**
 * The queue of jobs. One process at a time works on a job: it holds a lease that it renews, and every write names its
 * attempt, so that a process that lost its lease writes nothing more.
 */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { JobOptions } from "./options.ts";
import type { Report } from "./schema.ts";
import type { Stage, State } from "./sql.ts";

export interface ClaimedJob {
  tenant_id: string;
  id: string;
  project_id: string;
  name: string;
  options: JobOptions;
  series: string;
  stage: Stage;
  attempt: number;
  failures: number;
  budget_usd: string | null;
  spent_usd: string;
  population: number | null;
  population_failed: number | null;
  sampled: number | null;
  embedding_model: string | null;
  created_at: string;
}

export type Leased = Pick<ClaimedJob, "tenant_id" | "id" | "attempt">;

/** Advisory lock of claims, which count the running jobs of workspaces. Arbitrary, but unique to this purpose. */
const CLAIM_LOCK = 7_236_529;

/** Claims the next job of a workspace without a running one. Served by insight_jobs_to_do. */
export function claimJob(sql: Sql, leaseSeconds: number): Promise<ClaimedJob | undefined> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${CLAIM_LOCK})`;
    const [row] = await tx<ClaimedJob[]>`
      update insight_jobs j set state = 'running', attempt = attempt + 1, started_at = coalesce(started_at, now()),
        leased_until = now() + make_interval(secs => ${leaseSeconds})
      where (tenant_id, job_id) = (
        select w.tenant_id, w.job_id from insight_jobs w
        where w.state in ('queued', 'running') and w.not_before <= now()
          and (w.leased_until is null or w.leased_until < now())
          and not exists (
            select 1 from insight_jobs o
            where o.tenant_id = w.tenant_id and o.job_id <> w.job_id and o.state = 'running' and o.leased_until >= now()
          )
        order by w.not_before, w.created_at limit 1 for update of w skip locked)
      returning tenant_id, job_id as id, project_id, name, options, series, stage, attempt, failures,
        budget_usd::text as budget_usd, spent_usd::text as spent_usd, population::float8 as population,
        population_failed::float8 as population_failed, sampled, embedding_model, created_at::text as created_at`;
    return row;
  }) as Promise<ClaimedJob | undefined>;
}

/** Renews the lease. @returns the state; undefined when another attempt owns the job, or it was deleted */
export async function renewLease(
  sql: Sql,
  { tenant_id, id, attempt }: Leased,
  leaseSeconds: number,
): Promise<State | undefined> {
  const [row] = await sql<{ state: State }[]>`
    update insight_jobs set leased_until = now() + make_interval(secs => ${leaseSeconds})
    where tenant_id = ${tenant_id} and job_id = ${id} and attempt = ${attempt} returning state`;
  return row?.state;
}

/** Gives the lease back, after a failure with a pause. */
export const releaseJob = (
  sql: Sql,
  { tenant_id, id, attempt }: Leased,
  pauseSeconds: number,
  failures: number,
): PromiseLike<unknown> => sql`
  update insight_jobs set leased_until = null, failures = ${failures},
    not_before = now() + make_interval(secs => ${pauseSeconds})
  where tenant_id = ${tenant_id} and job_id = ${id} and attempt = ${attempt}`;

/** Locks the job for a write. @throws LostJob when another attempt owns it, or it no longer runs */
export async function fence(tx: Transaction, { tenant_id, id, attempt }: Leased): Promise<void> {
  const rows = await tx`
    select 1 from insight_jobs
    where tenant_id = ${tenant_id} and job_id = ${id} and attempt = ${attempt} and state = 'running' for update`;
  if (rows.length === 0) throw new LostJob();
}

export class LostJob extends Error {
  override name = "LostJob";
}

/** Adds what a call cost, whatever became of the job since. */
export const addSpending = (
  sql: Sql | Transaction,
  { tenant_id, id }: Leased,
  { cost, tokens }: { cost: string; tokens: number },
): PromiseLike<unknown> => sql`
  update insight_jobs set spent_usd = spent_usd + ${cost}::text::numeric, calls = calls + 1, tokens = tokens + ${tokens}
  where tenant_id = ${tenant_id} and job_id = ${id}`;

export const setStage = (tx: Transaction, { tenant_id, id }: Leased, stage: Stage): PromiseLike<unknown> => tx`
  update insight_jobs set stage = ${stage} where tenant_id = ${tenant_id} and job_id = ${id}`;

export const setSample = (
  tx: Transaction,
  { tenant_id, id }: Leased,
  { population, failed, sampled }: { population: number; failed: number; sampled: number },
): PromiseLike<unknown> => tx`
  update insight_jobs set population = ${population}, population_failed = ${failed}, sampled = ${sampled}
  where tenant_id = ${tenant_id} and job_id = ${id}`;

export const setEmbedding = (
  tx: Transaction,
  { tenant_id, id }: Leased,
  model: string,
  dimensions: number,
): PromiseLike<unknown> => tx`
  update insight_jobs set embedding_model = ${model}, dimensions = ${dimensions}
  where tenant_id = ${tenant_id} and job_id = ${id} and embedding_model is null`;

export const setReport = (tx: Transaction, { tenant_id, id }: Leased, report: Report): PromiseLike<unknown> => tx`
  update insight_jobs set report = ${JSON.stringify(report)}::text::jsonb
  where tenant_id = ${tenant_id} and job_id = ${id}`;

/** Ends the job. @returns false when another attempt owns it, or it has ended */
export async function endJob(
  sql: Sql | Transaction,
  { tenant_id, id, attempt }: Leased,
  state: Exclude<State, "queued" | "running">,
  { reason = null, error = null }: { reason?: string | null; error?: string | null } = {},
): Promise<boolean> {
  const rows = await sql`
    update insight_jobs set state = ${state}, reason = ${reason}, error = ${error}, ended_at = now(), leased_until = null
    where tenant_id = ${tenant_id} and job_id = ${id} and attempt = ${attempt} and state = 'running' returning 1`;
  return rows.length > 0;
}
