import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Leased } from "./queue-sql.ts";

export interface ClusterRow {
  id: string;
  parent_id: string | null;
  parent_name: string | null;
  level: number;
  place: number;
  is_leaf: boolean;
  num_children: number;
  name: string;
  description: string;
  named_by: "terms" | "model";
  num_runs: number;
  stats: ClusterStats;
}

/** Cluster of the previous job of the series that matches. Shares are parts of all runs, 0 to 1. */
export interface Previous {
  job_id: string;
  cluster_id: string;
  name: string;
  share: number | null;
}

export interface ClusterStats {
  /** Part of the period's runs, and their estimated number. */
  share?: number;
  estimated_runs?: number;
  error_rate?: number | null;
  /** Seconds. */
  latency_p50?: number | null;
  mean_cost?: number | null;
  estimated_cost?: number | null;
  /** By key. */
  feedback?: Record<string, { n: number; avg: number }>;
  central_run_ids?: string[];
  previous?: Previous | null;
  /** Whether there was a previous job to compare with. */
  compared?: boolean;
}

export interface NewCluster {
  id: string;
  parent_id: string | null;
  level: number;
  place: number;
  is_leaf: boolean;
  name: string;
  num_runs: number;
  centroid: Float32Array;
  stats: ClusterStats;
}

export const deleteClusters = (tx: Transaction, { tenant_id, id }: Leased): PromiseLike<unknown> => tx`
  delete from insight_clusters where tenant_id = ${tenant_id} and job_id = ${id}`;

export async function insertClusters(
  tx: Transaction,
  { tenant_id, id }: Leased,
  clusters: readonly NewCluster[],
): Promise<void> {
  const values = clusters.map(({ centroid, ...rest }) => ({
    ...rest,
    centroid: Buffer.from(centroid.buffer, centroid.byteOffset, centroid.byteLength).toString("base64"),
  }));
  await tx`
    insert into insight_clusters (tenant_id, job_id, cluster_id, parent_id, level, place, is_leaf, name, num_runs,
      centroid, stats)
    select ${tenant_id}, ${id}, c.id, c.parent_id, c.level, c.place, c.is_leaf, c.name, c.num_runs,
      decode(c.centroid, 'base64'), c.stats
    from jsonb_to_recordset(${JSON.stringify(values)}::text::jsonb) as c(id uuid, parent_id uuid, level int, place int,
      is_leaf boolean, name text, num_runs int, centroid text, stats jsonb)`;
}

export const listClusters = (sql: Sql | Transaction, tenantId: string, jobId: string): Promise<ClusterRow[]> => sql<
  ClusterRow[]
>`
  select c.cluster_id as id, c.parent_id, p.name as parent_name, c.level, c.place, c.is_leaf, c.name, c.description,
    c.named_by, c.num_runs, c.stats,
    (select count(*)::int from insight_clusters k
      where k.tenant_id = c.tenant_id and k.job_id = c.job_id and k.parent_id = c.cluster_id) as num_children
  from insight_clusters c
    left join insight_clusters p on p.tenant_id = c.tenant_id and p.job_id = c.job_id and p.cluster_id = c.parent_id
  where c.tenant_id = ${tenantId} and c.job_id = ${jobId} order by c.place`;

/** Returns a cluster and all below it. */
export const listSubtree = async (sql: Sql, tenantId: string, jobId: string, clusterId: string): Promise<string[]> =>
  (
    await sql<{ id: string }[]>`
      with recursive tree as (
        select cluster_id from insight_clusters
        where tenant_id = ${tenantId} and job_id = ${jobId} and cluster_id = ${clusterId}
        union all
        select c.cluster_id from insight_clusters c join tree t on c.parent_id = t.cluster_id
        where c.tenant_id = ${tenantId} and c.job_id = ${jobId}
      ) select cluster_id as id from tree`
  ).map(({ id }) => id);

export const nameCluster = (
  tx: Transaction,
  { tenant_id, id }: Leased,
  clusterId: string,
  { name, description }: { name: string; description: string },
): PromiseLike<unknown> => tx`
  update insight_clusters set name = ${name}, description = ${description}, named_by = 'model'
  where tenant_id = ${tenant_id} and job_id = ${id} and cluster_id = ${clusterId}`;

export const setStats = (
  tx: Transaction,
  { tenant_id, id }: Leased,
  clusters: readonly { id: string; stats: ClusterStats }[],
): PromiseLike<unknown> => tx`
  update insight_clusters c set stats = s.stats
  from jsonb_to_recordset(${JSON.stringify(clusters)}::text::jsonb) as s(id uuid, stats jsonb)
  where c.tenant_id = ${tenant_id} and c.job_id = ${id} and c.cluster_id = s.id`;

export interface PreviousCluster {
  job_id: string;
  id: string;
  name: string;
  share: number | null;
  centroid: Buffer;
}

/** Lists the clusters of the latest earlier job of the series that succeeded with the same embedding model. */
export const listPrevious = (
  sql: Sql,
  { tenant_id, id }: Leased,
  { series, model, dimensions }: { series: string; model: string; dimensions: number },
): Promise<PreviousCluster[]> => sql<PreviousCluster[]>`
  select c.job_id, c.cluster_id as id, c.name, (c.stats->>'share')::float8 as share, c.centroid
  from insight_clusters c
  where c.tenant_id = ${tenant_id} and c.job_id = (
    select j.job_id from insight_jobs j, insight_jobs mine
    where mine.tenant_id = ${tenant_id} and mine.job_id = ${id} and j.tenant_id = mine.tenant_id
      and j.project_id = mine.project_id and j.series = ${series} and j.state = 'success'
      and j.embedding_model = ${model} and j.dimensions = ${dimensions}
      and (j.created_at, j.job_id) < (mine.created_at, mine.job_id)
    order by j.created_at desc, j.job_id desc limit 1)
  order by c.place`;
