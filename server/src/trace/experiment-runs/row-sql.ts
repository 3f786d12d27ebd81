import { utcText } from "../../base/db/utc-text.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { LeasedJob } from "./queue-sql.ts";
import type { RowsQuery } from "./schema.ts";
import type { RowStatus } from "./status.ts";

type Job = Pick<LeasedJob, "tenant_id" | "project_id">;

/** Row that is to be executed, with its example. */
export interface OpenRow {
  row_index: number;
  example_id: string;
  repetition: number;
  status: "pending" | "ran";
  round: number;
  claims: number;
  /** JSON texts. Null inputs: the example was erased. */
  inputs: string | null;
  outputs: string | null;
  metadata: Record<string, unknown> | null;
  result: string | null;
}

/** Claim of a row, which fences its writes. */
export interface RowClaim extends Job {
  row_index: number;
  claims: number;
}

const isRow = (sql: Sql, { tenant_id, project_id, row_index, claims }: RowClaim) =>
  sql`tenant_id = ${tenant_id} and project_id = ${project_id} and row_index = ${row_index} and claims = ${claims}`;

/** Returns rows of an earlier attempt to those that wait. */
export const resetRows = (sql: Sql, { tenant_id, project_id }: Job): PromiseLike<unknown> => sql`
  update experiment_rows set status = 'pending', started_at = null
  where tenant_id = ${tenant_id} and project_id = ${project_id} and status = 'running'`;

/**
 * Lists the next rows after `after`, in order, with the state of their examples in the version. Served by
 * experiment_rows_open, and dataset_examples' primary key.
 */
export const listOpenRows = (
  sql: Sql,
  { tenant_id, project_id }: Job,
  after: number,
  limit: number,
): Promise<OpenRow[]> => sql<OpenRow[]>`
  with open as materialized (
    select row_index, example_id, repetition, status, round, claims, result from experiment_rows
    where tenant_id = ${tenant_id} and project_id = ${project_id} and row_index > ${after}
      and status in ('pending', 'ran')
    order by row_index limit ${limit})
  select o.row_index, o.example_id, o.repetition, o.status, o.round, o.claims, o.result::text as result,
    x.inputs::text as inputs, x.outputs::text as outputs, x.metadata
  from open o
  join experiment_jobs j on j.tenant_id = ${tenant_id} and j.project_id = ${project_id}
  left join dataset_examples x on x.tenant_id = ${tenant_id} and x.example_id = o.example_id
    and x.modified_at <= j.dataset_as_of and (x.replaced_at is null or x.replaced_at > j.dataset_as_of)
  order by o.row_index`;

/** Claims a waiting row. @returns false when its experiment was taken over or cancelled */
export async function claimRow(
  sql: Sql,
  { attempt, ...job }: LeasedJob,
  rowIndex: number,
): Promise<number | undefined> {
  const [row] = await sql<{ claims: number }[]>`
    update experiment_rows r set status = 'running', claims = r.claims + 1, started_at = now()
    from experiment_jobs j
    where r.tenant_id = ${job.tenant_id} and r.project_id = ${job.project_id} and r.row_index = ${rowIndex}
      and r.status = 'pending' and j.tenant_id = r.tenant_id and j.project_id = r.project_id
      and j.attempt = ${attempt} and j.status = 'running'
    returning r.claims`;
  return row?.claims;
}

/** Stores the answer of the target, from which runs and feedback follow. @returns false when the claim is lost */
export async function storeResult(sql: Sql, claim: RowClaim, result: string): Promise<boolean> {
  const { count } = await sql`
    update experiment_rows set status = 'ran', result = ${result}::text::json
    where ${isRow(sql, claim)} and status = 'running'`;
  return count === 1;
}

/** Returns a claimed row to those that wait. */
export const unclaimRow = (sql: Sql, claim: RowClaim): PromiseLike<unknown> => sql`
  update experiment_rows set status = 'pending', started_at = null where ${isRow(sql, claim)} and status = 'running'`;

export interface RowEnd {
  status: Extract<RowStatus, "done" | "failed" | "unjudged">;
  run_id: string | null;
  error: string | null;
  judge_errors: object[] | null;
  scores: Record<string, unknown> | null;
  latency_ms: number | null;
  total_tokens: number | null;
  cost_usd: string | null;
  judge_cost_usd: string | null;
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

/** Ends a row whose answer is stored. Only the first end counts. */
export const endRow = (sql: Sql, claim: RowClaim, end: RowEnd): PromiseLike<unknown> => sql`
  update experiment_rows set status = ${end.status}, run_id = ${end.run_id}, error = ${end.error},
    judge_errors = ${json(end.judge_errors)}::text::jsonb, scores = ${json(end.scores)}::text::jsonb,
    latency_ms = ${end.latency_ms}, total_tokens = ${end.total_tokens}, cost_usd = ${end.cost_usd}::text::numeric,
    judge_cost_usd = ${end.judge_cost_usd}::text::numeric, ended_at = now(),
    result = case when ${end.status === "unjudged"} then result end
  where ${isRow(sql, claim)} and status in ('running', 'ran')`;

/** Returns failed rows to those that wait, under a new run, and unjudged ones to those to be judged. */
export async function retryRows(
  tx: Transaction,
  tenantId: string,
  projectId: string,
): Promise<{ retried: number; runs: string[] }> {
  const failed = await tx<{ run_id: string | null }[]>`
    with old as (
      select row_index, run_id from experiment_rows
      where tenant_id = ${tenantId} and project_id = ${projectId} and status = 'failed' for update)
    update experiment_rows r set status = 'pending', round = r.round + 1, run_id = null, error = null, latency_ms = null,
      total_tokens = null, cost_usd = null, started_at = null, ended_at = null, result = null
    from old where r.tenant_id = ${tenantId} and r.project_id = ${projectId} and r.row_index = old.row_index
    returning old.run_id`;
  const { count } = await tx`
    update experiment_rows set status = 'ran', judge_errors = null, ended_at = null
    where tenant_id = ${tenantId} and project_id = ${projectId} and status = 'unjudged'`;
  return { retried: failed.length + count, runs: failed.flatMap(({ run_id: id }) => id ?? []) };
}

/** Lists rows as the API shows them. */
export const listRows = (sql: Sql, tenantId: string, projectId: string, query: RowsQuery): Promise<object[]> => sql`
  select row_index as index, example_id, repetition, status, run_id, error, judge_errors, scores, latency_ms,
    total_tokens::float8 as total_tokens, cost_usd::text as cost_usd, judge_cost_usd::text as judge_cost_usd,
    ${sql.unsafe(utcText("ended_at"))} as ended_at
  from experiment_rows
  where tenant_id = ${tenantId} and project_id = ${projectId}
    and ${
      query.status === undefined
        ? sql`true`
        : query.status === "open"
          ? sql`status in ('pending', 'running', 'ran')`
          : sql`status = ${query.status}`
    }
  order by row_index limit ${query.limit} offset ${query.offset}`;
