/**
 * The queue of pairwise judges. One process at a time works on a job: it holds a lease, by the database's clock, whose
 * id fences its writes.
 */
import type { Sql } from "../../base/db/connect.ts";
import { isoTime } from "../datasets/sql.ts";
import type { JudgeJob } from "./judge-schema.ts";

export interface ClaimedJob {
  tenant_id: string;
  job_id: string;
  comparative_experiment_id: string;
  evaluator_id: string;
  evaluator_version: number | null;
  attempts: number;
  lease_id: string;
}

const WIRE = `job_id as id, comparative_experiment_id, evaluator_id, evaluator_version, status, total, judged, failed,
  error, ${isoTime("created_at")} as created_at, ${isoTime("finished_at")} as finished_at`;

export async function insertJob(
  sql: Sql,
  job: Pick<ClaimedJob, "tenant_id" | "job_id" | "comparative_experiment_id" | "evaluator_id" | "evaluator_version">,
  total: number,
): Promise<JudgeJob> {
  const [row] = await sql<JudgeJob[]>`
    insert into pairwise_jobs (tenant_id, job_id, comparative_experiment_id, evaluator_id, evaluator_version, status, total)
    values (${job.tenant_id}, ${job.job_id}, ${job.comparative_experiment_id}, ${job.evaluator_id},
      ${job.evaluator_version}, 'queued', ${total})
    returning ${sql.unsafe(WIRE)}`;
  return row!;
}

/** Lists the newest jobs of a comparison. */
export async function listJobs(sql: Sql, tenantId: string, comparisonId: string): Promise<JudgeJob[]> {
  return sql<JudgeJob[]>`
    select ${sql.unsafe(WIRE)} from pairwise_jobs
    where tenant_id = ${tenantId} and comparative_experiment_id = ${comparisonId}
    order by created_at desc, job_id limit 100`;
}

/** Cancels the open jobs of a comparison. @returns their number */
export async function cancelJobs(sql: Sql, tenantId: string, comparisonId: string): Promise<number> {
  const { count } = await sql`
    update pairwise_jobs set status = 'cancelled', finished_at = now(), leased_until = null
    where tenant_id = ${tenantId} and comparative_experiment_id = ${comparisonId} and status in ('queued', 'running')`;
  return count;
}

/** Claims the oldest open job without a lease. Served by pairwise_jobs_open. */
export async function claimJob(sql: Sql, leaseSeconds: number): Promise<ClaimedJob | undefined> {
  const [row] = await sql<ClaimedJob[]>`
    update pairwise_jobs j set status = 'running', lease_id = gen_random_uuid(),
      leased_until = now() + make_interval(secs => ${leaseSeconds})
    where (j.tenant_id, j.job_id) = (
      select w.tenant_id, w.job_id from pairwise_jobs w
      where w.status in ('queued', 'running') and w.not_before <= now() and (w.leased_until is null or w.leased_until < now())
      order by w.not_before limit 1 for update of w skip locked)
    returning j.tenant_id, j.job_id, j.comparative_experiment_id, j.evaluator_id, j.evaluator_version, j.attempts, j.lease_id`;
  return row;
}

const isOurs = (sql: Sql, { tenant_id, job_id, lease_id }: ClaimedJob) =>
  sql`tenant_id = ${tenant_id} and job_id = ${job_id} and lease_id = ${lease_id} and status = 'running'`;

/** @returns false when the job was cancelled or taken over */
export async function renewJob(sql: Sql, job: ClaimedJob, leaseSeconds: number): Promise<boolean> {
  const { count } = await sql`
    update pairwise_jobs set leased_until = now() + make_interval(secs => ${leaseSeconds}) where ${isOurs(sql, job)}`;
  return count === 1;
}

export async function recordProgress(
  sql: Sql,
  job: ClaimedJob,
  { total, judged, failed }: { total: number; judged: number; failed: number },
): Promise<void> {
  await sql`
    update pairwise_jobs set total = ${total}, judged = ${judged}, failed = ${failed} where ${isOurs(sql, job)}`;
}

/** Ends the job. `error` null: completed. */
export async function endJob(sql: Sql, job: ClaimedJob, error: string | null): Promise<void> {
  await sql`
    update pairwise_jobs set status = ${error === null ? "completed" : "failed"}, error = ${error}, finished_at = now(),
      leased_until = null
    where ${isOurs(sql, job)}`;
}

/** Gives up the lease, so that a process can claim the job after the pause. */
export async function releaseJob(sql: Sql, job: ClaimedJob, pauseSeconds: number, error: string | null): Promise<void> {
  await sql`
    update pairwise_jobs set leased_until = null, not_before = now() + make_interval(secs => ${pauseSeconds}),
      error = ${error}, attempts = attempts + ${error === null ? 0 : 1}
    where ${isOurs(sql, job)}`;
}
