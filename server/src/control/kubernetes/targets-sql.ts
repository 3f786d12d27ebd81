/** Statements on the targets of clusters and their reports. Only this file writes `cluster_targets`. */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Source, SourceConfig } from "../deployments/schema.ts";
import type { SecretReference } from "../deployments/sql.ts";
import { clusterPlace } from "./placement.ts";
import type { ObservedDeployment, ObservedPod, TargetState } from "./desired-deployment.ts";

/** Deployment that runs in a cluster or must be removed from it. */
export interface PlannedRow {
  deployment_id: string;
  tenant_id: string;
  name: string;
  cluster: string;
  namespace: string | null;
  /** Null: the deployment must be removed. */
  revision_id: string | null;
  attempt: number;
  source: Source;
  source_config: SourceConfig;
  secret_references: SecretReference[] | null;
  image_uri: string | null;
  built_image: string | null;
  repo_ref: string | null;
  repo_commit_sha: string | null;
  langgraph_config_path: string | null;
  generation: string | null;
  fingerprint: string | null;
}

/**
 * Lists the deployments that should run in clusters. A revision that is being deployed takes precedence over the
 * serving one. A revision whose leader was lost during its deployment stays, because its next attempt continues it.
 */
export const plannedDeployments = (sql: Sql) => sql<PlannedRow[]>`
  with places as (
    select distinct r.deployment_id, r.cluster from revisions r
    where r.cluster is not null and (r.status in ('DEPLOYING', 'UNKNOWN', 'AWAITING_DEPLOY', 'INTERRUPTED')
      or r.id in (select active_revision_id from deployments))
    union select deployment_id, cluster from cluster_targets where revision_id is not null or state is distinct from 'removed')
  select d.id as deployment_id, d.tenant_id, d.name, p.cluster,
    d.source_config->'listener_config'->>'k8s_namespace' as namespace,
    r.id as revision_id, coalesce(r.attempt, 0) as attempt, coalesce(r.source, d.source) as source,
    coalesce(r.source_config, d.source_config) as source_config, r.secret_references, r.image_uri, r.built_image, r.repo_ref,
    r.repo_commit_sha, r.langgraph_config_path, t.generation, t.fingerprint
  from places p join deployments d on d.id = p.deployment_id
  left join cluster_targets t on t.deployment_id = p.deployment_id and t.cluster = p.cluster
  left join lateral (
    select * from revisions r
    where d.status = 'READY' and r.deployment_id = d.id and r.cluster = p.cluster and r.artifact_id is not null
      and (r.status in ('DEPLOYING', 'UNKNOWN') or r.id = d.active_revision_id
        or (r.id = t.revision_id and not r.interrupted_by_user and r.status in ('AWAITING_DEPLOY', 'INTERRUPTED')))
    order by r.id = d.active_revision_id, r.status in ('DEPLOYING', 'UNKNOWN') desc, r.number desc limit 1) r on true
  limit 10000`;

/** Locks a deployment's target. Call it before `writeTarget`, which must not wait while it holds the leader's row. */
export const lockTarget = (tx: Transaction, deploymentId: string, cluster: string) => tx`
  select 1 from cluster_targets where deployment_id = ${deploymentId} and cluster = ${cluster} for update`;

/**
 * Writes a deployment's target with the next generation, as the leader of `term`.
 * @returns the generation; undefined when the term has ended
 */
export async function writeTarget(
  tx: Transaction,
  term: string | null,
  target: { deploymentId: string; cluster: string; revisionId: string | null; fingerprint: string },
): Promise<number | undefined> {
  const [row] = await tx<{ generation: string }[]>`
    with lead as (select from control_leader where term = ${term} for share)
    insert into cluster_targets as t (deployment_id, cluster, generation, revision_id, fingerprint, state)
    select ${target.deploymentId}, ${target.cluster}, 1, ${target.revisionId}, ${target.fingerprint}, null from lead
    on conflict (deployment_id, cluster) do update set generation = t.generation + 1,
      revision_id = excluded.revision_id, fingerprint = excluded.fingerprint, state = null, message = null
    returning generation`;
  return row && Number(row.generation);
}

/** Returns a version that changes with every target of a cluster. */
export async function targetsVersion(sql: Sql, cluster: string): Promise<string> {
  const [row] = await sql<{ version: string }[]>`
    select md5(coalesce(string_agg(deployment_id || ':' || generation, ',' order by deployment_id), '')) as version
    from cluster_targets where cluster = ${cluster} and (revision_id is not null or state is distinct from 'removed')`;
  return row!.version;
}

export const listTargets = (sql: Sql, cluster: string) => sql<{ deployment_id: string; generation: string }[]>`
  select deployment_id, generation from cluster_targets
  where cluster = ${cluster} and (revision_id is not null or state is distinct from 'removed')
  order by deployment_id limit 10000`;

export interface TargetRow {
  revision_id: string | null;
  /** State of the current generation; null before the first report about it. */
  state: TargetState | null;
  message: string | null;
  /** Milliseconds since the cluster's last report about the deployment; null before the first. */
  unseen_ms: number | null;
}

export async function findTarget(sql: Sql, deploymentId: string, cluster: string): Promise<TargetRow | undefined> {
  const [row] = await sql<TargetRow[]>`
    select revision_id, case when reported_generation = generation then state end as state,
      case when reported_generation = generation then message end as message,
      (extract(epoch from now() - seen_at) * 1000)::float8 as unseen_ms
    from cluster_targets where deployment_id = ${deploymentId} and cluster = ${cluster}`;
  return row;
}

/** Counts the clusters that may still have objects of a deployment. */
export async function countPlaces(sql: Sql, deploymentId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from cluster_targets
    where deployment_id = ${deploymentId} and state is distinct from 'removed'`;
  return row!.count;
}

/** Lists the clusters that have run a deployment. */
export async function listClusters(sql: Sql, deploymentId: string): Promise<string[]> {
  const rows = await sql<{ cluster: string }[]>`
    select cluster from cluster_targets where deployment_id = ${deploymentId} limit 1000`;
  return rows.map(({ cluster }) => cluster);
}

/**
 * Records a report, unless one about a later generation is recorded. If the cluster's objects have a higher generation
 * than the target, as after a restore of the database, raises the target's generation above theirs.
 * @returns false when the deployment is not known for the cluster
 */
export async function recordObserved(tx: Transaction, cluster: string, observed: ObservedDeployment): Promise<boolean> {
  const { count } = await tx`
    update cluster_targets set reported_generation = ${observed.generation}, state = ${observed.state},
      message = ${observed.message}, pods_ready = ${observed.ready}, pods_total = ${observed.total}, seen_at = now(),
      generation = case when ${observed.state} = 'stale' and generation = ${observed.generation}
        then ${(observed.liveGeneration ?? 0) + 1}::bigint else generation end
    where deployment_id = ${observed.deploymentId} and cluster = ${cluster} and generation >= ${observed.generation}
      and coalesce(reported_generation, 0) <= ${observed.generation}`;
  return count === 1;
}

/**
 * Records a pod as an instance. The reporter chooses the uid, so the row is found by its cluster and deployment too. Pods
 * of revisions that no longer exist, or that run elsewhere, are ignored.
 */
export const recordPod = (
  tx: Transaction,
  cluster: string,
  { deploymentId, pod, replica }: { deploymentId: string; pod: ObservedPod; replica: number },
) => tx`
  insert into instances as i (id, deployment_id, revision_id, replica, state, place, port, address, pod, pod_uid, ready_at)
  select gen_random_uuid(), r.deployment_id, r.id, ${replica}, ${pod.state}, ${clusterPlace(cluster)},
    ${pod.address?.port ?? 0}, ${pod.address?.host ?? null}, ${pod.name}, ${pod.uid}::uuid,
    case when ${pod.state} = 'ready' then now() end
  from revisions r where r.id::text = ${pod.revisionId} and r.deployment_id = ${deploymentId} and r.cluster = ${cluster}
  on conflict (place, pod_uid, deployment_id) do update set state = excluded.state, port = excluded.port,
    address = excluded.address, ready_at = coalesce(i.ready_at, excluded.ready_at)
  where i.revision_id = excluded.revision_id and i.state <> 'ended'
    and (i.state, i.port, i.address) is distinct from (excluded.state, excluded.port, excluded.address)`;

/** Ends the instances of pods that no longer exist. */
export const endPods = (tx: Transaction, cluster: string, deploymentId: string, living: string[]) => tx`
  update instances set state = 'ended', ended_at = now(), end_reason = 'The pod no longer exists.'
  where deployment_id = ${deploymentId} and place = ${clusterPlace(cluster)} and state <> 'ended'
    and (pod_uid = any(${living}::text[]::uuid[])) is not true`;

/** Returns the positions up to which the logs of pods are stored, in nanoseconds since 1970. */
export const logPositions = (tx: Transaction, cluster: string, uids: string[]) => tx<
  { uid: string; log_offset: string }[]
>`
  select pod_uid as uid, log_offset from instances
  where place = ${clusterPlace(cluster)} and pod_uid = any(${uids}::text[]::uuid[])`;

/**
 * Advances the position of a pod's log, also after the pod's end, when its last lines arrive.
 * @returns the pod's revision; undefined when the position is not `from`
 */
export async function moveLogPosition(
  tx: Transaction,
  cluster: string,
  { uid, from, to }: { uid: string; from: string; to: string },
): Promise<{ deployment_id: string; revision_id: string } | undefined> {
  const [row] = await tx<{ deployment_id: string; revision_id: string }[]>`
    update instances i set log_offset = ${to}::text::bigint
    where i.pod_uid = ${uid}::uuid and i.place = ${clusterPlace(cluster)} and i.log_offset = ${from}::text::bigint
      and i.log_offset < ${to}::text::bigint
      and exists (select from cluster_targets t where t.deployment_id = i.deployment_id and t.cluster = ${cluster})
    returning i.deployment_id, i.revision_id`;
  return row;
}
