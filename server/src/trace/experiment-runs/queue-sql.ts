/**
 * The queue of experiments. One process at a time executes an experiment: it holds a lease that it renews every second.
 * A row is written by the process that claimed it, and only as long as no other has claimed it since.
 */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { JobEvaluator, JobOptions, Target } from "./schema.ts";
import { type JobEvent, type JobStatus, statusesBefore } from "./status.ts";

/** Advisory lock that serializes claims, which compare the workspaces' running experiments. Unique to this purpose. */
const CLAIM_LOCK = 7_236_528;

/** Identity of a claimed experiment; the attempt fences it. */
export interface LeasedJob {
  tenant_id: string;
  project_id: string;
  attempt: number;
}

export interface ClaimedJob extends LeasedJob {
  project_name: string;
  dataset_id: string;
  target: Target;
  evaluators: JobEvaluator[];
  options: JobOptions;
  metadata: Record<string, unknown>;
}

/**
 * Claims the oldest open experiment without a lease, of the workspaces with the fewest running ones first; with
 * `keepsRoom` only of workspaces without any. Served by experiment_jobs_open.
 */
export function claimJob(
  sql: Sql,
  { leaseSeconds, keepsRoom }: { leaseSeconds: number; keepsRoom: boolean },
): Promise<ClaimedJob | undefined> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${CLAIM_LOCK})`;
    const [row] = await tx<ClaimedJob[]>`
      with busy as materialized (
        select tenant_id, count(*) as n from experiment_jobs
        where status = 'running' and leased_until >= now() group by tenant_id
      )
      update experiment_jobs j set status = 'running', attempt = j.attempt + 1, started_at = coalesce(started_at, now()),
        reason = null, ended_at = null, sums = null, leased_until = now() + make_interval(secs => ${leaseSeconds})
      from projects p
      where p.tenant_id = j.tenant_id and p.project_id = j.project_id and (j.tenant_id, j.project_id) = (
        select w.tenant_id, w.project_id from experiment_jobs w left join busy b on b.tenant_id = w.tenant_id
        where w.status in ('pending', 'running') and (w.leased_until is null or w.leased_until < now())
          and (not ${keepsRoom}::boolean or b.n is null)
        order by coalesce(b.n, 0), w.created_at limit 1
        for update of w skip locked)
      returning j.tenant_id, j.project_id, j.attempt, p.name as project_name, j.dataset_id, j.target, j.evaluators,
        j.options, j.metadata`;
    return row;
  });
}

const isOurs = (sql: Sql | Transaction, { tenant_id, project_id, attempt }: LeasedJob) =>
  sql`tenant_id = ${tenant_id} and project_id = ${project_id} and attempt = ${attempt}`;

/** @returns the status; undefined when another attempt executes the experiment, or it was deleted */
export async function renewLease(sql: Sql, job: LeasedJob, leaseSeconds: number): Promise<JobStatus | undefined> {
  const [row] = await sql<{ status: JobStatus }[]>`
    update experiment_jobs set leased_until = case when status = 'running'
      then now() + make_interval(secs => ${leaseSeconds}) end
    where ${isOurs(sql, job)} returning status`;
  return row?.status;
}

/** Ends the experiment and its lease. @returns false when it was ended or taken over before */
export async function endJob(
  sql: Sql,
  job: LeasedJob,
  event: "complete" | "stop",
  reason: string | null,
): Promise<boolean> {
  const status = event === "complete" ? "completed" : "stopped";
  const { count } = await sql`
    update experiment_jobs set status = ${status}, reason = ${reason}, ended_at = now(), leased_until = null
    where ${isOurs(sql, job)} and status = any(${statusesBefore(event)})`;
  return count === 1;
}

/** Gives up the lease, so that a process can claim the experiment after the pause. */
export const releaseJob = (sql: Sql, job: LeasedJob, pauseSeconds: number): PromiseLike<unknown> => sql`
  update experiment_jobs set leased_until = case when status = 'running'
    then now() + make_interval(secs => ${pauseSeconds}) end
  where ${isOurs(sql, job)}`;

/** @returns false when the experiment's status does not permit the event */
export async function changeJob(
  sql: Sql | Transaction,
  tenantId: string,
  projectId: string,
  event: Extract<JobEvent, "cancel" | "resume" | "retry">,
): Promise<boolean> {
  const { count } =
    event === "cancel"
      ? await sql`
          update experiment_jobs set status = 'cancelled', reason = null, ended_at = now()
          where tenant_id = ${tenantId} and project_id = ${projectId} and status = any(${statusesBefore(event)})`
      : await sql`
          update experiment_jobs set status = 'pending', reason = null, ended_at = null, sums = null
          where tenant_id = ${tenantId} and project_id = ${projectId} and status = any(${statusesBefore(event)})`;
  return count === 1;
}
