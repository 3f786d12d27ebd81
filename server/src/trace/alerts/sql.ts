import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { AlertDefinition, BudgetDefinition } from "./definition.ts";

export type Severity = "info" | "warning" | "error" | "critical";

export type Target = "webhook" | "slack" | "teams" | "pagerduty" | "email";

/** Channel as it is stored and shown: secrets are masked. */
export interface AlertAction {
  id: string;
  target: Target;
  config: Record<string, unknown>;
  /** Kept until its last message has been sent. */
  removed?: true;
}

export interface Maintenance {
  starts_at: string;
  ends_at: string;
}

/** Row of `alert_rules` as a caller sets it. */
export interface AlertRuleFields {
  rule_id: string;
  tenant_id: string;
  project_id: string | null;
  name: string;
  definition: AlertDefinition;
  severity: Severity;
  is_enabled: boolean;
  silenced_until: Date | null;
  maintenance: Maintenance[];
  actions: AlertAction[];
  created_by: string | null;
  /** Null: an alert rule. */
  budget: BudgetDefinition | null;
}

export interface AlertRule extends AlertRuleFields {
  disabled_reason: string | null;
  generation: number;
  measured_at: Date | null;
  evaluated_at: Date | null;
  error: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface ListedRule extends AlertRule {
  session_name: string | null;
  firing: number;
  pending: number;
  last_fired_at: Date | null;
}

const COLUMNS = `r.rule_id, r.tenant_id, r.project_id, r.name, r.definition, r.severity, r.is_enabled, r.disabled_reason,
  r.silenced_until, r.maintenance, r.actions, r.generation, r.evaluated_at, r.error, r.created_by, r.created_at,
  r.updated_at, r.budget, r.measured_at`;

const LISTED = `${COLUMNS}, p.name as session_name,
  (select count(*)::int from alert_groups g where g.rule_id = r.rule_id and g.status = 'firing') as firing,
  (select count(*)::int from alert_groups g where g.rule_id = r.rule_id and g.status = 'pending') as pending,
  (select max(i.fired_at) from alert_incidents i where i.rule_id = r.rule_id) as last_fired_at`;

/** Finds a rule. `lock`: until the transaction ends. */
export async function findAlertRule(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
  lock?: "lock",
): Promise<AlertRule | undefined> {
  const [row] = await sql<AlertRule[]>`
    select ${sql.unsafe(COLUMNS)} from alert_rules r where r.tenant_id = ${tenantId} and r.rule_id = ${id}
    ${lock ? sql`for update` : sql``}`;
  return row;
}

/** Lists rules or budgets, newest first. @param filter `project`: null for those over all projects */
export const listAlertRules = (
  sql: Sql,
  tenantId: string,
  filter: { project?: string | null; id?: string; kind?: "budget"; withPlatform?: boolean },
  page: { limit: number; offset: number },
): Promise<ListedRule[]> => sql<ListedRule[]>`
  select ${sql.unsafe(LISTED)} from alert_rules r
  left join projects p on p.tenant_id = r.tenant_id and p.project_id = r.project_id
  where r.tenant_id = ${tenantId} and ${filter.kind ? sql`r.budget is not null` : sql`r.budget is null`}
    and ${filter.withPlatform === false ? sql`r.definition ->> 'attribute' not like 'platform.%'` : sql`true`}
    and ${filter.id === undefined ? sql`true` : sql`r.rule_id = ${filter.id}`}
    and ${filter.project === undefined ? sql`true` : sql`r.project_id is not distinct from ${filter.project}::uuid`}
  order by r.created_at desc, r.rule_id desc limit ${page.limit} offset ${page.offset}`;

/** @returns false when the workspace already has `max` rules, or budgets */
export async function insertAlertRule(tx: Transaction, row: AlertRuleFields, max: number): Promise<boolean> {
  const inserted = await tx`
    insert into alert_rules (rule_id, tenant_id, project_id, name, definition, severity, is_enabled, silenced_until,
      maintenance, actions, interval_seconds, created_by, budget)
    select ${row.rule_id}, ${row.tenant_id}, ${row.project_id}::uuid, ${row.name},
      ${JSON.stringify(row.definition)}::text::jsonb, ${row.severity}, ${row.is_enabled},
      ${row.silenced_until?.toISOString() ?? null}::text::timestamptz, ${JSON.stringify(row.maintenance)}::text::jsonb,
      ${JSON.stringify(row.actions)}::text::jsonb, ${row.definition.interval_minutes * 60}, ${row.created_by}::uuid,
      ${row.budget && JSON.stringify(row.budget)}::text::jsonb
    where (select count(*) from alert_rules where tenant_id = ${row.tenant_id}
      and (budget is null) = ${row.budget === null}) < ${max}
    returning 1`;
  return inserted.length > 0;
}

/** Replaces a rule. `renewed`: its evaluation begins anew, and one that is in progress is discarded. */
export async function updateAlertRule(tx: Transaction, row: AlertRuleFields, renewed: boolean): Promise<void> {
  await tx`
    update alert_rules set project_id = ${row.project_id}::uuid, name = ${row.name},
      definition = ${JSON.stringify(row.definition)}::text::jsonb, severity = ${row.severity},
      is_enabled = ${row.is_enabled}, disabled_reason = case when ${row.is_enabled} then null else disabled_reason end,
      silenced_until = ${row.silenced_until?.toISOString() ?? null}::text::timestamptz,
      maintenance = ${JSON.stringify(row.maintenance)}::text::jsonb,
      actions = ${JSON.stringify(row.actions)}::text::jsonb,
      budget = ${row.budget && JSON.stringify(row.budget)}::text::jsonb,
      interval_seconds = ${row.definition.interval_minutes * 60},
      generation = generation + ${renewed ? 1 : 0},
      evaluated_at = case when ${renewed} then null else evaluated_at end,
      error = case when ${renewed} then null else error end,
      available_at = case when ${renewed} then now() else available_at end,
      updated_at = greatest(updated_at, clock_timestamp())
    where tenant_id = ${row.tenant_id} and rule_id = ${row.rule_id}`;
}

/** Deletes a rule with its incidents and waiting messages. @returns false when there is none */
export async function deleteAlertRule(tx: Transaction, tenantId: string, id: string): Promise<boolean> {
  const deleted = await tx`delete from alert_rules where tenant_id = ${tenantId} and rule_id = ${id} returning 1`;
  return deleted.length > 0;
}

/** Returns the organization of the installation's administrators. */
export async function findFirstOrganization(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from organizations order by created_at, id limit 1`;
  return row?.id;
}

export async function deleteAlertRulesOfWorkspace(sql: Sql | Transaction, tenantId: string): Promise<void> {
  await sql`delete from alert_rules where tenant_id = ${tenantId}`;
}
