/**
 * Queue of revisions. One process at a time works on a revision; every transition is conditional on its attempt's
 * number and the expected status, a fencing token that stops a process which lost its lease from writing.
 */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { RevisionRow } from "./sql.ts";
import {
  COMPLETING,
  type Event,
  isOver,
  MAX_LOSSES,
  statesBefore,
  type Status,
  TRANSITIONS,
  UNFINISHED,
  WORKING,
} from "./status.ts";

export interface ClaimedRevision extends RevisionRow {
  tenant_id: string;
  attempt: number;
}

/**
 * Claims the next unclaimed revision. It resumes after the last step with a durable result, the build if there is one,
 * whatever the previous attempt was doing. Served by the index revisions_to_do.
 *
 * Claims nothing when `term` is no longer the leader's; no other process can take the lease during the statement.
 */
export async function claimRevision(
  sql: Sql,
  { term, holder, leaseSeconds }: { term: string | null; holder: string; leaseSeconds: number },
): Promise<ClaimedRevision | undefined> {
  const [row] = await sql<ClaimedRevision[]>`
    with lead as (select from control_leader where term = ${term} for share), claimed as (
      update revisions set attempt = attempt + 1, holder = ${holder},
        lease_until = now() + make_interval(secs => ${leaseSeconds}),
        status = case when status in ('CREATING', 'QUEUED', 'AWAITING_DEPLOY') then status
          when artifact_id is not null then 'AWAITING_DEPLOY' else 'QUEUED' end,
        interrupted_by_user = false, updated_at = now()
      where id = (
        select r.id from revisions r join deployments d on d.id = r.deployment_id
        where r.status = any(${UNFINISHED}::text[]) and r.holder is null and r.not_before <= now()
          and not r.interrupted_by_user and d.status = 'READY' and exists (select from lead)
        order by r.not_before, r.created_at limit 1
        for update of r skip locked)
      returning *)
    select c.*, d.tenant_id from claimed c join deployments d on d.id = c.deployment_id`;
  if (row) await recordEvent(sql, row.id);
  return row;
}

/** Returns the milliseconds until the pause of the next failed step is over; Infinity when none pauses. */
export async function nextPauseEnd(sql: Sql): Promise<number> {
  const [row] = await sql<{ ms: number | null }[]>`
    select (extract(epoch from min(not_before) - now()) * 1000)::float8 as ms from revisions
    where status = any(${UNFINISHED}::text[]) and holder is null and not interrupted_by_user and not_before > now()`;
  return row?.ms ?? Infinity;
}

const recordEvent = (sql: Sql | Transaction, id: string) => sql`
  insert into revision_events (revision_id, status, attempt, message)
  select r.id, r.status, r.attempt, r.status_message from revisions r where r.id = ${id}`;

export type LeasedRevision = Pick<ClaimedRevision, "id" | "attempt" | "deployment_id" | "number">;

/** The revision was taken over by another process, or was ended. */
export class LostRevisionError extends Error {}

/** Makes a transition. Throws LostRevisionError when the revision is not in the expected state. @returns the new state */
export async function transition(
  sql: Sql | Transaction,
  leased: LeasedRevision,
  from: Status,
  event: Event,
  changes: { message?: string | null; artifactId?: string; builtImage?: string | null; commitSha?: string | null } = {},
): Promise<Status> {
  const to = TRANSITIONS[from][event];
  if (to === null) throw new Error(`a revision that is ${from} cannot be ${event}`);
  const { count } = await sql`
    update revisions set status = ${to}, status_message = ${changes.message ?? null},
      artifact_id = coalesce(${changes.artifactId ?? null}::uuid, artifact_id),
      built_image = coalesce(${changes.builtImage ?? null}, built_image),
      repo_commit_sha = coalesce(${changes.commitSha ?? null}, repo_commit_sha),
      losses = case when ${COMPLETING.has(event)} then 0 else losses end, updated_at = now(),
      finished_at = case when ${isOver(to)} then now() else finished_at end
    where id = ${leased.id} and attempt = ${leased.attempt} and status = ${from}`;
  if (count !== 1) throw new LostRevisionError();
  await recordEvent(sql, leased.id);
  return to;
}

/** Whether the revision waits for another of its deployment, which is being deployed (index revisions_deploying). */
export async function waitsForDeploy(sql: Sql, claimed: LeasedRevision): Promise<boolean> {
  const rows = await sql`
    select from revisions r
    where r.id = ${claimed.id} and r.attempt = ${claimed.attempt} and r.status = 'AWAITING_DEPLOY' and exists (
      select from revisions other
      where other.deployment_id = r.deployment_id and other.status in ('DEPLOYING', 'UNKNOWN'))`;
  return rows.length > 0;
}

/** Skips older revisions that neither serve nor are about to: the newest wins. */
export async function supersedeOlder(tx: Transaction, { id, deployment_id, number }: LeasedRevision): Promise<void> {
  const rows = await tx<{ id: string }[]>`
    update revisions set status = 'SKIPPED', updated_at = now(), finished_at = now(),
      status_message = ${`Replaced by the newer revision ${id}.`}
    where deployment_id = ${deployment_id} and number < ${number} and status = any(${statesBefore("superseded")}::text[])
    returning id`;
  for (const row of rows) await recordEvent(tx, row.id);
}

/** @returns the state; undefined when another process has taken the revision over */
export async function renewLease(
  sql: Sql,
  { id, attempt }: LeasedRevision,
  leaseSeconds: number,
): Promise<Status | undefined> {
  const [row] = await sql<{ status: Status }[]>`
    update revisions set lease_until = now() + make_interval(secs => ${leaseSeconds})
    where id = ${id} and attempt = ${attempt} and holder is not null returning status`;
  return row?.status;
}

/** Counts a transient error of the current step. @returns the losses of the step */
export async function countLoss(sql: Sql, { id, attempt }: LeasedRevision, status: Status): Promise<number> {
  const [row] = await sql<{ losses: number }[]>`
    update revisions set losses = losses + 1 where id = ${id} and attempt = ${attempt} and status = ${status}
    returning losses`;
  if (!row) throw new LostRevisionError();
  return row.losses;
}

/** Releases the revision, to be claimed again after a pause. */
export const release = (
  sql: Sql,
  { id, attempt }: LeasedRevision,
  { pauseMs, message }: { pauseMs: number; message?: string },
) => sql`
  update revisions set holder = null, lease_until = null, not_before = now() + make_interval(secs => ${pauseMs / 1000}),
    status_message = coalesce(${message ?? null}, status_message)
  where id = ${id} and attempt = ${attempt}`;

export interface ForeignLease {
  id: string;
  attempt: number;
  deployment_id: string;
  number: string;
  holder: string;
  status: Status;
  losses: number;
}

/** Lists revisions that are claimed by any process. */
export const leasedRevisions = (sql: Sql) => sql<ForeignLease[]>`
  select id, attempt, deployment_id, number, holder, status, losses from revisions
  where holder is not null limit 10000`;

/**
 * Takes a revision from a dead holder. One in progress is INTERRUPTED until another process resumes it, or fails once
 * its step was lost too often.
 * @returns the new state; undefined when the revision has changed since the lease was listed
 */
export async function takeFromLost(sql: Sql, lost: ForeignLease): Promise<Status | undefined> {
  const losses = lost.losses + (WORKING.has(lost.status) ? 1 : 0);
  const isTooOften = losses >= MAX_LOSSES && WORKING.has(lost.status);
  const to = TRANSITIONS[lost.status][isTooOften ? "failed" : "lost"] ?? lost.status;
  const message = isTooOften
    ? `The process that was working on it was lost ${losses} times in this step.`
    : "The process that was working on it is gone; another one continues.";
  const { count } = await sql`
    update revisions set holder = null, lease_until = null, status = ${to}, losses = ${losses}, updated_at = now(),
      attempt = attempt + 1, finished_at = case when ${isTooOften} then now() else finished_at end,
      status_message = case when ${to !== lost.status} then ${message} else status_message end
    where id = ${lost.id} and attempt = ${lost.attempt} and holder = ${lost.holder} and status = ${lost.status}`;
  if (count !== 1) return undefined;
  // one that has reached its end is released only, which is no event of its history
  if (to !== lost.status) await recordEvent(sql, lost.id);
  return to;
}
