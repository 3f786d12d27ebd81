import type { Sql } from "../../base/db/connect.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { isoTime } from "../datasets/sql.ts";

const COLUMNS = {
  id: "v.evaluation_id",
  experiment_id: "v.project_id",
  evaluator_id: "v.evaluator_id",
  evaluator_name: "e.name",
  version: "v.version",
  rule_id: "v.rule_id",
  status: "v.status",
  total: "v.total",
  done: "v.done",
  errors: "v.errors",
  cost_usd: "trim_scale(v.cost_usd)::text",
  error: "v.error",
  created_at: isoTime("v.created_at"),
  ended_at: isoTime("v.ended_at"),
};

export interface NewEvaluation {
  tenant_id: string;
  evaluation_id: string;
  project_id: string;
  evaluator_id: string;
  version: number;
  rule_id: string | null;
}

/** Enqueues an evaluation, unless the same one is waiting or running. */
export async function insertEvaluation(sql: Sql, row: NewEvaluation): Promise<void> {
  await sql`
    insert into experiment_evaluations (tenant_id, evaluation_id, project_id, evaluator_id, version, rule_id, status)
    select ${row.tenant_id}, ${row.evaluation_id}, ${row.project_id}, ${row.evaluator_id}, ${row.version},
      ${row.rule_id}, 'pending'
    where not exists (select from experiment_evaluations where tenant_id = ${row.tenant_id}
      and project_id = ${row.project_id} and evaluator_id = ${row.evaluator_id} and version = ${row.version}
      and status in ('pending', 'running'))`;
}

/** Lists the newest evaluations of an experiment. @returns a JSON array */
export async function listEvaluations(sql: Sql, tenantId: string, experimentId: string): Promise<string> {
  const [row] = await sql<{ items: string }[]>`
    select coalesce(json_agg(${buildJsonObject(sql, COLUMNS)} order by v.created_at desc), '[]')::text as items
    from (select * from experiment_evaluations where tenant_id = ${tenantId} and project_id = ${experimentId}
          order by created_at desc limit 100) v
    join evaluators e on e.tenant_id = v.tenant_id and e.evaluator_id = v.evaluator_id`;
  return row!.items;
}

/** Returns the evaluators of a rule, the named one first; undefined for an unknown rule. */
export async function findRuleEvaluators(sql: Sql, tenantId: string, ruleId: string): Promise<string[] | undefined> {
  const [row] = await sql<{ evaluator_id: string | null; more: string[] | null }[]>`
    select evaluator_id, actions -> 'evaluator_ids' as more from rules
    where tenant_id = ${tenantId} and rule_id = ${ruleId}`;
  return row && [...new Set([...(row.evaluator_id === null ? [] : [row.evaluator_id]), ...(row.more ?? [])])];
}

export interface ClaimedEvaluation extends NewEvaluation {
  lease_id: string;
  total: string | null;
  cursor_start_time: string | null;
  cursor_run_id: string | null;
}

export async function claimEvaluation(
  sql: Sql,
  leaseId: string,
  seconds: number,
): Promise<ClaimedEvaluation | undefined> {
  const [row] = await sql<ClaimedEvaluation[]>`
    update experiment_evaluations set status = 'running', lease_id = ${leaseId},
      leased_until = now() + make_interval(secs => ${seconds})
    where (tenant_id, evaluation_id) = (
      select tenant_id, evaluation_id from experiment_evaluations
      where status in ('pending', 'running') and available_at <= now() and (leased_until is null or leased_until < now())
      order by created_at limit 1 for update skip locked)
    returning tenant_id, evaluation_id, project_id, evaluator_id, version, rule_id, lease_id, total,
      to_char(cursor_start_time at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as cursor_start_time, cursor_run_id`;
  return row;
}

type Leased = Pick<ClaimedEvaluation, "tenant_id" | "evaluation_id" | "lease_id">;

const mine = (sql: Sql, job: Leased) => sql`
  tenant_id = ${job.tenant_id} and evaluation_id = ${job.evaluation_id} and lease_id = ${job.lease_id}`;

export async function renewEvaluation(sql: Sql, job: Leased, seconds: number): Promise<boolean> {
  const { count } = await sql`
    update experiment_evaluations set leased_until = now() + make_interval(secs => ${seconds})
    where ${mine(sql, job)} and status = 'running'`;
  return count === 1;
}

export async function recordTotal(sql: Sql, job: Leased, total: number): Promise<void> {
  await sql`update experiment_evaluations set total = ${total} where ${mine(sql, job)}`;
}

/** Records a judged page. @returns false when the lease is lost */
export async function recordProgress(
  sql: Sql,
  job: Leased,
  page: { done: number; errors: number; usd: string; after: { start_time: string; id: string }; error: string | null },
): Promise<boolean> {
  const { count } = await sql`
    update experiment_evaluations set done = done + ${page.done}, errors = errors + ${page.errors},
      cost_usd = cost_usd + ${page.usd}::numeric, error = coalesce(${page.error}, error),
      cursor_start_time = ${page.after.start_time}::text::timestamp at time zone 'UTC', cursor_run_id = ${page.after.id}
    where ${mine(sql, job)}`;
  return count === 1;
}

/** Ends an evaluation, or releases it to be continued in `pauseSeconds`. */
export async function releaseEvaluation(
  sql: Sql,
  job: Leased,
  end: { status: "completed" | "failed"; error?: string } | { pauseSeconds: number; error?: string },
): Promise<void> {
  const ends = "status" in end;
  await sql`
    update experiment_evaluations set lease_id = null, leased_until = null, error = coalesce(${end.error ?? null}, error),
      status = ${ends ? end.status : "pending"}, ended_at = ${ends ? sql`now()` : sql`null`},
      available_at = now() + make_interval(secs => ${ends ? 0 : end.pauseSeconds})
    where ${mine(sql, job)}`;
}

/** Returns which of these feedback ids exist: judgements that are not to be paid for again. */
export async function findStored(sql: Sql, tenantId: string, ids: string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select feedback_id as id from feedback where tenant_id = ${tenantId} and feedback_id = any(${ids}::uuid[])`;
  return new Set(rows.map((row) => row.id));
}
