import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { Leased } from "./queue-sql.ts";

/** Run of a sample: its location, and what it stands for. */
export interface SampledRun {
  run_id: string;
  trace_id: string;
  project_id: string;
  /** As ClickHouse formats it. */
  start_time: string;
  thread_id: string | null;
  place: number;
  failed: boolean;
  weight: number;
}

const microTime = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')`;
const KEY = `run_id, trace_id, project_id, ${microTime("start_time")} as start_time, thread_id, place, failed, weight`;

export const insertRuns = (
  tx: Transaction,
  { tenant_id, id }: Leased,
  runs: readonly SampledRun[],
): PromiseLike<unknown> => tx`
  insert into insight_runs (tenant_id, job_id, run_id, trace_id, project_id, start_time, thread_id, place, failed, weight)
  select ${tenant_id}, ${id}, r.run_id, r.trace_id, r.project_id, r.start_time::timestamp at time zone 'UTC', r.thread_id, r.place, r.failed,
    r.weight
  from jsonb_to_recordset(${JSON.stringify(runs)}::text::jsonb) as r(run_id uuid, trace_id uuid, project_id uuid,
    start_time text, thread_id text, place int, failed boolean, weight float8)
  on conflict do nothing`;

export interface UnreadRun extends SampledRun {
  summary: string | null;
}

/** Lists runs without a vector, in the order of the sample. */
export const listUnread = (sql: Sql, { tenant_id, id }: Leased, limit: number): Promise<UnreadRun[]> => sql<
  UnreadRun[]
>`
  select ${sql.unsafe(KEY)}, summary from insight_runs
  where tenant_id = ${tenant_id} and job_id = ${id} and embedding is null
  order by place limit ${limit}`;

export const setSummaries = (
  tx: Transaction,
  { tenant_id, id }: Leased,
  runs: readonly { run_id: string; summary: string }[],
): PromiseLike<unknown> => tx`
  update insight_runs r set summary = s.summary
  from jsonb_to_recordset(${JSON.stringify(runs)}::text::jsonb) as s(run_id uuid, summary text)
  where r.tenant_id = ${tenant_id} and r.job_id = ${id} and r.run_id = s.run_id`;

/** Stores vectors as float32, little-endian; an empty one marks a run without a text. */
export async function setEmbeddings(
  tx: Transaction,
  { tenant_id, id }: Leased,
  runs: readonly { run_id: string; vector: Float32Array }[],
): Promise<void> {
  const values = runs.map(({ run_id, vector }) => ({
    run_id,
    vector: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64"),
  }));
  await tx`
    update insight_runs r set embedding = decode(s.vector, 'base64')
    from jsonb_to_recordset(${JSON.stringify(values)}::text::jsonb) as s(run_id uuid, vector text)
    where r.tenant_id = ${tenant_id} and r.job_id = ${id} and r.run_id = s.run_id`;
}

/** Lists the vectors that are not empty, in the order of the sample. */
export const listEmbeddings = (
  sql: Sql,
  { tenant_id, id }: Leased,
  after: number,
  limit: number,
): Promise<{ run_id: string; place: number; embedding: Buffer }[]> => sql<
  { run_id: string; place: number; embedding: Buffer }[]
>`
  select run_id, place, embedding from insight_runs
  where tenant_id = ${tenant_id} and job_id = ${id} and place > ${after} and length(embedding) > 0
  order by place limit ${limit}`;

export const assignRuns = (
  tx: Transaction,
  { tenant_id, id }: Leased,
  runs: readonly { run_id: string; cluster_id: string; similarity: number }[],
): PromiseLike<unknown> => tx`
  update insight_runs r set cluster_id = s.cluster_id, similarity = s.similarity
  from jsonb_to_recordset(${JSON.stringify(runs)}::text::jsonb) as s(run_id uuid, cluster_id uuid, similarity real)
  where r.tenant_id = ${tenant_id} and r.job_id = ${id} and r.run_id = s.run_id`;

export interface ClusteredRun extends SampledRun {
  summary: string | null;
  cluster_id: string;
  similarity: number;
}

/** Lists the runs that fit their cluster best, or worst. */
export const listExamples = (
  sql: Sql,
  { tenant_id, id }: Pick<Leased, "tenant_id" | "id">,
  clusters: readonly string[],
  best: boolean,
  limit: number,
): Promise<ClusteredRun[]> => sql<ClusteredRun[]>`
  select ${sql.unsafe(KEY)}, summary, cluster_id, similarity from insight_runs
  where tenant_id = ${tenant_id} and job_id = ${id} and cluster_id = any(${clusters as string[]}::uuid[])
  order by similarity ${sql.unsafe(best ? "desc" : "asc")}, place limit ${limit}`;

/** Lists the clustered runs, in the order of the sample. */
export const listClustered = (
  sql: Sql,
  { tenant_id, id }: Leased,
  after: number,
  limit: number,
): Promise<ClusteredRun[]> => sql<ClusteredRun[]>`
  select ${sql.unsafe(KEY)}, summary, cluster_id, similarity from insight_runs
  where tenant_id = ${tenant_id} and job_id = ${id} and place > ${after} and cluster_id is not null
  order by place limit ${limit}`;

/** Counts the runs that were read, and those of them that failed. */
export async function countRead(sql: Sql, { tenant_id, id }: Leased): Promise<{ read: number; failed: number }> {
  const [row] = await sql<{ read: number; failed: number }[]>`
    select count(*)::int as read, count(*) filter (where failed)::int as failed from insight_runs
    where tenant_id = ${tenant_id} and job_id = ${id} and embedding is not null`;
  return row!;
}

export interface PageOfRuns {
  run_id: string;
  project_id: string;
  start_time: string;
  summary: string | null;
  cluster_id: string | null;
  similarity: number | null;
}

/** Lists the runs of a job, or of a cluster and those below it, the best fitting first. */
export const listRuns = (
  sql: Sql,
  tenantId: string,
  jobId: string,
  {
    clusters,
    limit,
    offset,
    descending,
  }: {
    clusters?: string[] | undefined;
    limit: number;
    offset: number;
    descending: boolean;
  },
): Promise<PageOfRuns[]> => sql<PageOfRuns[]>`
  select run_id, project_id, ${sql.unsafe(microTime("start_time"))} as start_time, summary, cluster_id, similarity
  from insight_runs
  where tenant_id = ${tenantId} and job_id = ${jobId}
    and (${clusters ?? null}::uuid[] is null or cluster_id = any(${clusters ?? null}::uuid[]))
  order by similarity ${sql.unsafe(descending ? "desc" : "asc")} nulls last, place limit ${limit} offset ${offset}`;
