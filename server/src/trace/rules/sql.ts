import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { RuleActions } from "./schema.ts";

/** Row of `rules`. Times are `Date`s; use `active_from_text` to compare with times of runs. */
export interface Rule {
  tenant_id: string;
  rule_id: string;
  display_name: string;
  is_enabled: boolean;
  project_id: string | null;
  dataset_id: string | null;
  sampling_rate: number;
  filter: string | null;
  trace_filter: string | null;
  tree_filter: string | null;
  group_by: "thread_id" | null;
  idle_seconds: number;
  actions: RuleActions;
  evaluator_id: string | null;
  /** Decimal text. */
  spend_limit_usd: string | null;
  active_from: Date;
  /** `YYYY-MM-DD hh:mm:ss.ffffff`, as ClickHouse formats the times of runs. */
  active_from_text: string;
  disabled_reason: string | null;
  created_by: string | null;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = `tenant_id, rule_id, display_name, is_enabled, project_id, dataset_id, sampling_rate, filter, trace_filter,
  tree_filter, group_by, idle_seconds, actions, evaluator_id, spend_limit_usd::text, active_from,
  to_char(active_from at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as active_from_text, disabled_reason, created_by,
  created_at, updated_at`;

/** Finds a rule. `lock`: until the transaction ends. */
export async function findRule(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
  lock?: "lock",
): Promise<Rule | undefined> {
  const [row] = await sql<Rule[]>`
    select ${sql.unsafe(COLUMNS)} from rules where tenant_id = ${tenantId} and rule_id = ${id}
    ${lock ? sql`for update` : sql``}`;
  return row;
}

/** Lists the enabled rules of workspaces, and these rules whether enabled or not. */
export const selectActiveRules = (
  sql: Sql | Transaction,
  tenants: readonly string[],
  also: readonly string[] = [],
): Promise<Rule[]> => sql<Rule[]>`
  select ${sql.unsafe(COLUMNS)} from rules
  where tenant_id = any(${tenants as string[]}::text[]::uuid[])
    and (is_enabled or rule_id = any(${also as string[]}::text[]::uuid[]))
  order by tenant_id, rule_id`;

/** Candidate of a back-fill or a trigger. `start_time`: `YYYY-MM-DD hh:mm:ss.ffffff`. */
export interface RuleCandidateRun {
  id: string;
  project_id: string;
  trace_id: string;
  start_time: string;
}

/** Asks for the evaluation of one rule on runs, also on those from before it. Wake `deps.ruleMatcher` after the commit. */
export async function insertRuleCandidates(
  sql: Sql | Transaction,
  tenantId: string,
  ruleId: string,
  runs: readonly RuleCandidateRun[],
): Promise<void> {
  if (runs.length === 0) return;
  const column = (name: keyof RuleCandidateRun) => runs.map((run) => run[name]);
  await sql`
    insert into rule_candidates (tenant_id, project_id, run_id, trace_id, start_time, rule_id)
    select ${tenantId}, project_id, run_id, trace_id, start_time at time zone 'UTC', ${ruleId}
    from unnest(${column("project_id")}::text[]::uuid[], ${column("id")}::text[]::uuid[],
      ${column("trace_id")}::text[]::uuid[], ${column("start_time")}::text[]::timestamp[])
      as g (project_id, run_id, trace_id, start_time)`;
}

/** Orders a back-fill, in the transaction that creates or changes the rule; `rule-actions` executes it. */
export async function insertBackfill(
  sql: Sql | Transaction,
  row: { tenant_id: string; rule_id: string; backfill_id: string; backfill_from: string },
): Promise<void> {
  await sql`
    insert into rule_backfills (tenant_id, rule_id, backfill_id, backfill_from, backfill_to, status)
    values (${row.tenant_id}, ${row.rule_id}, ${row.backfill_id}, ${row.backfill_from}::text::timestamptz, now(),
      'pending')`;
}

/** Disables a rule for a reason that its owner reads. */
export async function disableRule(
  sql: Sql | Transaction,
  tenantId: string,
  ruleId: string,
  reason: string,
): Promise<void> {
  await sql`
    update rules set is_enabled = false, disabled_reason = ${reason}, updated_at = greatest(updated_at, clock_timestamp())
    where tenant_id = ${tenantId} and rule_id = ${ruleId} and is_enabled`;
}

export type NewRule = Omit<Rule, "active_from" | "active_from_text" | "disabled_reason" | "created_at" | "updated_at">;

/** @returns false when the workspace already has `max` rules */
export async function insertRule(tx: Transaction, row: NewRule, max: number): Promise<boolean> {
  const inserted = await tx`
    insert into rules (tenant_id, rule_id, display_name, is_enabled, project_id, dataset_id, sampling_rate, filter,
      trace_filter, tree_filter, group_by, idle_seconds, actions, evaluator_id, spend_limit_usd, active_from, created_by)
    select ${row.tenant_id}, ${row.rule_id}, ${row.display_name}, ${row.is_enabled}, ${row.project_id}::uuid,
      ${row.dataset_id}::uuid, ${row.sampling_rate}, ${row.filter}, ${row.trace_filter}, ${row.tree_filter},
      ${row.group_by}, ${row.idle_seconds}, ${JSON.stringify(row.actions)}::text::jsonb, ${row.evaluator_id}::uuid,
      ${row.spend_limit_usd}::text::numeric, now(), ${row.created_by}::uuid
    where (select count(*) from rules where tenant_id = ${row.tenant_id}) < ${max}
    returning 1`;
  return inserted.length > 0;
}

/** Replaces a rule. One that is enabled now and was not begins with the runs from now on. */
export async function updateRule(tx: Transaction, row: NewRule): Promise<void> {
  await tx`
    update rules set display_name = ${row.display_name}, is_enabled = ${row.is_enabled}, project_id = ${row.project_id}::uuid,
      dataset_id = ${row.dataset_id}::uuid, sampling_rate = ${row.sampling_rate}, filter = ${row.filter},
      trace_filter = ${row.trace_filter}, tree_filter = ${row.tree_filter}, group_by = ${row.group_by},
      idle_seconds = ${row.idle_seconds}, actions = ${JSON.stringify(row.actions)}::text::jsonb,
      evaluator_id = ${row.evaluator_id}::uuid, spend_limit_usd = ${row.spend_limit_usd}::text::numeric,
      active_from = case when ${row.is_enabled} and not is_enabled then now() else active_from end,
      disabled_reason = case when ${row.is_enabled} then null else disabled_reason end,
      updated_at = greatest(updated_at, clock_timestamp())
    where tenant_id = ${row.tenant_id} and rule_id = ${row.rule_id}`;
}

/** Deletes a rule with its decisions, waiting threads, candidates and back-fills. @returns false when there is none */
export async function deleteRule(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
  const deleted = await tx`delete from rules where tenant_id = ${tenantId} and rule_id = ${id} returning 1`;
  return deleted.length > 0;
}

/** Deletes all rules of a workspace, and the candidates. */
export async function deleteRulesOfWorkspace(sql: Sql | Transaction, tenantId: string): Promise<void> {
  await sql`delete from rule_candidates where tenant_id = ${tenantId}`;
  await sql`delete from rules where tenant_id = ${tenantId}`;
}

/** Deletes the evaluator that a validation has created. */
export const deleteEvaluatorOfTrial = (sql: Sql, tenantId: string, id: string): Promise<unknown> =>
  sql`delete from evaluators where tenant_id = ${tenantId} and evaluator_id = ${id}`;
