/** Statements on followed branches and their polling times. */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { SourceConfig } from "../deployments/schema.ts";

export interface WatchRow {
  deployment_id: string;
  tenant_id: string;
  git_ref: string;
  source_config: SourceConfig;
  seen_sha: string | null;
  failures: number;
  /** Lease end written when this poll was claimed. A different value in the row indicates a webhook call since then. */
  claimed_until: string;
}

/** Starts to follow a branch, polling it soon, or stops. */
export const follow = (tx: Transaction, deploymentId: string, isFollowed: boolean) =>
  isFollowed
    ? tx`insert into git_watches (deployment_id) values (${deploymentId}) on conflict do nothing`
    : tx`delete from git_watches where deployment_id = ${deploymentId}`;

/** Claims due branches for one process; an interrupted poll is repeated after the lease. */
export const claimWatches = (sql: Sql, { limit, leaseSeconds }: { limit: number; leaseSeconds: number }) => sql<
  WatchRow[]
>`
  with due as (
    select w.deployment_id from git_watches w join deployments d on d.id = w.deployment_id
    where w.next_look_at <= now() and d.status = 'READY'
    order by w.next_look_at limit ${limit} for update of w skip locked),
  claimed as (
    update git_watches w set next_look_at = now() + make_interval(secs => ${leaseSeconds})
    from due where w.deployment_id = due.deployment_id returning w.*)
  select c.deployment_id, d.tenant_id, d.git_ref, d.source_config, c.seen_sha, c.failures,
    c.next_look_at::text as claimed_until
  from claimed c join deployments d on d.id = c.deployment_id`;

/**
 * Records a poll. `seconds` until the next one; null: until a webhook call. A call that arrived during the poll is preserved.
 */
export const finishPoll = (
  sql: Sql,
  { deployment_id, claimed_until }: WatchRow,
  { seconds, failures, problem }: { seconds: number | null; failures: number; problem: string | null },
) => sql`
  update git_watches set looked_at = now(), failures = ${failures}, problem = ${problem},
    next_look_at = case when next_look_at = ${claimed_until}::text::timestamptz
      then coalesce(now() + make_interval(secs => ${seconds}::float8), 'infinity') else next_look_at end
  where deployment_id = ${deployment_id}`;

export async function selectSeenCommit(tx: Transaction, deploymentId: string): Promise<string | null | undefined> {
  const [row] = await tx<{ seen_sha: string | null }[]>`
    select seen_sha from git_watches where deployment_id = ${deploymentId} for update`;
  return row?.seen_sha;
}

/** Records the commit that a revision resolved, unless a newer revision has already done so. */
export const recordSeenCommit = (
  tx: Sql | Transaction,
  { deploymentId, ref, sha, number }: { deploymentId: string; ref: string | null; sha: string; number: string },
) => tx`
  update git_watches w set seen_sha = ${sha}, seen_number = ${number}
  from deployments d
  where d.id = w.deployment_id and w.deployment_id = ${deploymentId} and d.git_ref = ${ref} and w.seen_number < ${number}`;

/** Whether a revision has yet to resolve its branch: the commit it finds needs no further revision. */
export async function isBeingResolved(tx: Transaction, deploymentId: string): Promise<boolean> {
  const [row] = await tx`
    select 1 from revisions where deployment_id = ${deploymentId} and source = 'github' and repo_commit_sha is null
      and status in ('CREATING', 'QUEUED', 'INTERRUPTED') and not interrupted_by_user limit 1`;
  return row !== undefined;
}

/** Selects followed deployments of an integration on a branch. */
export const selectWatches = (sql: Sql, tenantId: string, integrationId: string, branch: string) => sql<
  { deployment_id: string; repo_url: string }[]
>`
  select w.deployment_id, d.source_config->>'repo_url' as repo_url
  from deployments d join git_watches w on w.deployment_id = d.id
  where d.tenant_id = ${tenantId} and d.source_config->>'integration_id' = ${integrationId}
    and d.git_ref in (${branch}, ${`refs/heads/${branch}`})
  limit 1000`;

export const wakeWatches = (sql: Sql, deploymentIds: string[]) => sql`
  update git_watches set next_look_at = now() where deployment_id = any(${deploymentIds}::text[]::uuid[])`;
