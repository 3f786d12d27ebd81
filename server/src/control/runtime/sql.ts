/** Statements on instances: those that run, and those that should. */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Source, SourceConfig } from "../deployments/schema.ts";

export type InstanceState = "starting" | "ready" | "draining" | "ended";

export interface InstanceRow {
  id: string;
  deployment_id: string;
  revision_id: string;
  replica: number;
  state: InstanceState;
  port: number;
  pid: number | null;
  started: string | null;
  log_offset: string;
  started_at: Date;
  ready_at: Date | null;
}

const INSTANCE = `id, deployment_id, revision_id, replica, state, port, pid, started, log_offset, started_at, ready_at`;

export const liveInstances = (sql: Sql, place: string) => sql<InstanceRow[]>`
  select ${sql.unsafe(INSTANCE)} from instances where state <> 'ended' and place = ${place}
  order by started_at limit 10000`;

/** Lists live instances of other machines or data directories. */
export const foreignInstances = (sql: Sql, place: string) => sql<{ id: string; artifact_id: string; place: string }[]>`
  select i.id, r.artifact_id, i.place from instances i join revisions r on r.id = i.revision_id
  where i.state <> 'ended' and i.place <> ${place} and i.pod is null and r.artifact_id is not null
  order by i.started_at limit 10000`;

/** Lists the ids of live instances, on any machine. */
export const liveInstanceIds = (sql: Sql) => sql<{ id: string }[]>`select id from instances where state <> 'ended'`;

/**
 * Inserts an instance in the name of the leader of `term`, whose lease no other process can take during the statement.
 * @returns undefined when this revision and replica already has a live instance, or the term is over
 */
export async function insertInstance(
  sql: Sql,
  term: string | null,
  instance: { id: string; deploymentId: string; revisionId: string; replica: number; place: string; port: number },
): Promise<InstanceRow | undefined> {
  const [row] = await sql<InstanceRow[]>`
    with lead as (select from control_leader where term = ${term} for share)
    insert into instances (id, deployment_id, revision_id, replica, state, place, port)
    select ${instance.id}, d.id, ${instance.revisionId}, ${instance.replica}, 'starting', ${instance.place}, ${instance.port}
    from lead, deployments d where d.id = ${instance.deploymentId} and d.status = 'READY'
    on conflict do nothing returning ${sql.unsafe(INSTANCE)}`;
  return row;
}

/** @returns false when it has ended: a later leader did not find the process */
export async function setProcess(
  sql: Sql,
  id: string,
  { pid, started }: { pid: number; started: string },
): Promise<boolean> {
  const { count } = await sql`
    update instances set pid = ${pid}, started = ${started} where id = ${id} and state <> 'ended'`;
  return count === 1;
}

/** @returns false when it is no longer in that state */
export async function setState(sql: Sql, id: string, from: InstanceState[], to: InstanceState): Promise<boolean> {
  const { count } = await sql`
    update instances set state = ${to}, ready_at = case when ${to} = 'ready' then now() else ready_at end
    where id = ${id} and state = any(${from}::text[])`;
  return count === 1;
}

/** Lists revisions with live instances, on any machine. */
export const liveRevisions = (sql: Sql, deploymentId: string) => sql<
  { revision_id: string; source_config: SourceConfig; instances: number }[]
>`
  select r.id as revision_id, r.source_config, count(*)::int as instances
  from instances i join revisions r on r.id = i.revision_id
  where i.deployment_id = ${deploymentId} and i.state <> 'ended'
  group by r.id limit 100`;

export const endInstance = (sql: Sql, id: string, reason: string, crashed: boolean) => sql`
  update instances set state = 'ended', ended_at = now(), end_reason = ${reason},
    crashed = ${crashed} and state in ('starting', 'ready')
  where id = ${id} and state <> 'ended'`;

/** Ends all instances of the control planes' machines. Pods are left to their clusters, which report them. */
export const endAllInstances = (sql: Sql, reason: string) => sql`
  update instances set state = 'ended', ended_at = now(), end_reason = ${reason}, crashed = false
  where state <> 'ended' and pod is null`;

/** @returns false when another process has moved it */
export async function setLogOffset(
  sql: Sql | Transaction,
  id: string,
  { from, to }: { from: number; to: number },
): Promise<boolean> {
  const { count } = await sql`update instances set log_offset = ${to} where id = ${id} and log_offset = ${from}`;
  return count === 1;
}

export interface DesiredRevisionRow {
  deployment_id: string;
  tenant_id: string;
  name: string;
  revision_id: string;
  /** Whether it serves; otherwise it is being deployed. */
  is_active: boolean;
  artifact_id: string;
  langgraph_config_path: string | null;
  source_config: SourceConfig;
  /** Replicas for the deployment's load, as set by the autoscaler. */
  scale: number | null;
  source: Source;
  repo_ref: string | null;
  repo_commit_sha: string | null;
  /** Crashes of the revision's instances within the last ten minutes. */
  crashes: number;
  /** Milliseconds since the last crash. */
  crashed_ago: number | null;
}

/** Time for which a crash counts; afterwards the restart delays begin anew. */
const FORGET = "10 minutes";

/** Lists revisions that should run: those that serve, and those being deployed. */
export const desiredRevisions = (sql: Sql) => sql<DesiredRevisionRow[]>`
  select d.id as deployment_id, d.tenant_id, d.name, r.id as revision_id, r.id = d.active_revision_id as is_active,
    r.artifact_id, r.langgraph_config_path, r.source_config, d.scale, r.source, r.repo_ref, r.repo_commit_sha,
    coalesce(c.crashes, 0)::int as crashes, c.crashed_ago
  from deployments d join revisions r on r.deployment_id = d.id
  left join lateral (
    select count(*) as crashes, (extract(epoch from now() - max(i.ended_at)) * 1000)::float8 as crashed_ago
    from instances i
    where i.deployment_id = d.id and i.revision_id = r.id and i.crashed
      and i.ended_at > now() - ${sql.unsafe(`interval '${FORGET}'`)}) c on true
  where d.status = 'READY' and r.artifact_id is not null and r.cluster is null
    and (r.id = d.active_revision_id or r.status in ('DEPLOYING', 'UNKNOWN'))
  limit 10000`;

export type ScalableRow = Pick<DesiredRevisionRow, "deployment_id" | "revision_id" | "source_config" | "scale">;

/** Lists deployments whose replicas may exceed their minimum. */
export const scalableDeployments = (sql: Sql) => sql<ScalableRow[]>`
  select d.id as deployment_id, r.id as revision_id, r.source_config, d.scale
  from deployments d join revisions r on r.id = d.active_revision_id
  where d.status = 'READY' and r.cluster is null and (r.source_config->'resource_spec'->>'max_scale')::int
    > greatest(1, coalesce((r.source_config->'resource_spec'->>'min_scale')::int, 1))
  order by d.id limit 1000`;

/**
 * Lists instances of revisions that neither serve nor are being deployed. `is_fast`: no requests depend on them any more.
 * `reason`: why they are stopped, as operators read it.
 */
export const unwantedInstances = (sql: Sql, place: string) => sql<{ id: string; is_fast: boolean; reason: string }[]>`
  select i.id, (d.status = 'AWAITING_DELETE' or (r.status not in ('DEPLOYED'))) as is_fast,
    case when d.status = 'AWAITING_DELETE' then 'Stopped: the deployment is being deleted.'
      when r.status like '%FAILED' then 'Stopped: its revision could not be deployed.'
      when r.status = 'INTERRUPTED' then 'Stopped: its revision was cancelled.'
      else 'Stopped: another revision replaced it.' end as reason
  from instances i join deployments d on d.id = i.deployment_id join revisions r on r.id = i.revision_id
  where i.place = ${place} and i.state in ('starting', 'ready')
    and (d.status = 'AWAITING_DELETE'
      or not (r.id is not distinct from d.active_revision_id
        or r.status in ('DEPLOYING', 'AWAITING_DEPLOY', 'UNKNOWN')
        or (r.status = 'INTERRUPTED' and not r.interrupted_by_user)))
  limit 1000`;

export interface InstanceReport {
  id: string;
  revision_id: string;
  replica: number;
  state: InstanceState;
  started_at: Date;
  ready_at: Date | null;
  ended_at: Date | null;
  end_reason: string | null;
  /** Name of its pod; null for instances that this control plane runs. */
  pod: string | null;
  /** Recent metrics of a pod; null for other instances. */
  memory_bytes: number | null;
  cpu_percent: number | null;
  /** Why its cluster reports no metrics. */
  usage_problem: string | null;
}

/** Age at which the metrics of a pod are no longer current, as while its cluster is unavailable. */
const USAGE_AGE = "90 seconds";

/** Lists live instances, then the most recently ended ones. */
export const listInstances = (sql: Sql, deploymentId: string, limit: number) => sql<InstanceReport[]>`
  select i.id, i.revision_id, i.replica, i.state, i.started_at, i.ready_at, i.ended_at, i.end_reason, i.pod,
    case when u.is_current then i.memory_bytes::float8 end as memory_bytes,
    case when u.is_current then i.cpu_percent end as cpu_percent, t.usage_problem
  from instances i
  cross join lateral (
    select i.state <> 'ended' and i.measured_at > now() - ${sql.unsafe(`interval '${USAGE_AGE}'`)} as is_current) u
  left join cluster_targets t on t.deployment_id = i.deployment_id and i.place = 'cluster:' || t.cluster
  where i.deployment_id = ${deploymentId}
  order by (i.state = 'ended'), i.started_at desc limit ${limit}`;

/** Counts the instances of a revision that crashed since a time. */
export async function countCrashes(sql: Sql, revisionId: string, since: Date): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from instances
    where revision_id = ${revisionId} and crashed and ended_at >= ${since.toISOString()}::text::timestamptz`;
  return row!.count;
}

/** Deletes instances that ended long ago. */
export const deleteOldInstances = (sql: Sql) => sql`
  delete from instances where id in (
    select id from instances where state = 'ended' and ended_at < now() - interval '1 day' limit 1000)`;

/** Lists the processes of recently ended instances of a machine. */
export const endedInstances = (sql: Sql, place: string) => sql<{ id: string; pid: number; started: string }[]>`
  select id, pid, started from instances
  where place = ${place} and state = 'ended' and pid is not null and started is not null
    and ended_at between now() - interval '1 day' and now() - interval '5 seconds'
  order by ended_at desc limit 1000`;
