/** Statements of the evaluation: claims, and what a tick changes. */
import { randomUUID } from "node:crypto";

import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { AlertRule } from "./sql.ts";

export interface ClaimedRule extends AlertRule {
  lease_id: string;
  /** The database's time of the claim. */
  now: Date;
}

/**
 * Claims the rule that is due the longest, under a lease. One whose time is further away than its interval was set
 * before the clock was put back, and is due as well.
 * @param except workspaces whose rules are left
 */
export async function claimAlertRule(
  sql: Sql,
  leaseSeconds: number,
  except: readonly string[],
): Promise<ClaimedRule | undefined> {
  const lease = randomUUID();
  const [row] = await sql<ClaimedRule[]>`
    update alert_rules r set lease_id = ${lease}, available_at = now() + make_interval(secs => ${leaseSeconds})
    where r.rule_id = (
      select rule_id from alert_rules
      where is_enabled and (available_at <= now()
        or available_at > now() + make_interval(secs => interval_seconds + ${2 * leaseSeconds}))
        and tenant_id <> all(${except as string[]}::text[]::uuid[])
      order by available_at limit 1 for update skip locked)
    returning r.*, now() as now`;
  return row;
}

export async function renewAlertLease(
  sql: Sql,
  { rule_id, lease_id }: ClaimedRule,
  leaseSeconds: number,
): Promise<boolean | "lost"> {
  const rows = await sql`
    update alert_rules set available_at = now() + make_interval(secs => ${leaseSeconds})
    where rule_id = ${rule_id} and lease_id = ${lease_id} returning 1`;
  return rows.length > 0 ? true : "lost";
}

/** Ends the claim. Has no effect on a claim that another process has taken over. */
export async function postponeAlertRule(
  sql: Sql,
  { rule_id, lease_id }: ClaimedRule,
  pauseMs: number,
  error: string | null,
): Promise<void> {
  await sql`
    update alert_rules set lease_id = null, error = coalesce(${error}, error),
      available_at = now() + make_interval(secs => ${pauseMs}::double precision / 1000)
    where rule_id = ${rule_id} and lease_id = ${lease_id}`;
}

export async function disableAlertRule(tx: Transaction, ruleId: string, reason: string): Promise<void> {
  await tx`
    update alert_rules set is_enabled = false, disabled_reason = ${reason}, lease_id = null,
      updated_at = greatest(updated_at, clock_timestamp())
    where rule_id = ${ruleId}`;
}

/**
 * Locks the rule until the transaction ends.
 * @returns the rule as it is now; undefined when the evaluation is void: the rule was changed or deleted, or another
 * process has taken over
 */
export async function lockEvaluation(
  tx: Transaction,
  { rule_id, lease_id, generation }: ClaimedRule,
): Promise<(AlertRule & { now: Date }) | undefined> {
  const [row] = await tx<(AlertRule & { now: Date })[]>`
    select *, clock_timestamp() as now from alert_rules
    where rule_id = ${rule_id} and lease_id = ${lease_id} and generation = ${generation} and is_enabled for update`;
  return row;
}

/** Records the last evaluated tick and ends the claim. */
export async function finishEvaluation(tx: Transaction, ruleId: string, tick: Date, next: Date): Promise<void> {
  await tx`
    update alert_rules set evaluated_at = ${tick.toISOString()}::text::timestamptz,
      available_at = ${next.toISOString()}::text::timestamptz, lease_id = null, error = null
    where rule_id = ${ruleId}`;
}

/** State of a group, with its incident if it fires. */
export interface GroupRow {
  group_name: string;
  status: "pending" | "firing";
  breaches: number;
  began_at: Date;
  incident_id: string | null;
  worst: number | null;
  told_at: Date | null;
}

export const selectGroups = (tx: Transaction, ruleId: string): Promise<GroupRow[]> => tx<GroupRow[]>`
  select g.group_name, g.status, g.breaches, g.began_at, g.incident_id, i.worst, i.told_at
  from alert_groups g left join alert_incidents i using (incident_id) where g.rule_id = ${ruleId}`;

/** Replaces the states of a rule's groups. */
export async function replaceGroups(
  tx: Transaction,
  ruleId: string,
  groups: { group_name: string; status: string; breaches: number; began_at: string; incident_id: string | null }[],
): Promise<void> {
  await tx`
    delete from alert_groups where rule_id = ${ruleId}
      and group_name <> all(${groups.map((group) => group.group_name)}::text[])`;
  if (groups.length === 0) return;
  await tx`
    insert into alert_groups (rule_id, group_name, status, breaches, began_at, incident_id)
    select ${ruleId}, group_name, status, breaches, began_at, incident_id
    from jsonb_to_recordset(${JSON.stringify(groups)}::text::jsonb)
      as n (group_name text, status text, breaches integer, began_at timestamptz, incident_id uuid)
    on conflict (rule_id, group_name) do update
    set status = excluded.status, breaches = excluded.breaches, began_at = excluded.began_at,
      incident_id = excluded.incident_id`;
}

export interface IncidentChange {
  incident_id: string;
  group_name: string;
  status: "firing" | "resolved";
  began_at: string;
  fired_at: string;
  resolved_at: string | null;
  value: number | null;
  worst: number | null;
  last_value: number | null;
  threshold: number | null;
  reason: string | null;
  told: boolean;
  /** Of a budget. */
  period?: string;
  level?: string;
}

/** Inserts new incidents. One that exists is left as it is: its tick was evaluated before the clock was put back. */
export async function insertIncidents(
  tx: Transaction,
  { rule_id, tenant_id, severity }: AlertRule,
  incidents: readonly IncidentChange[],
): Promise<Set<string>> {
  if (incidents.length === 0) return new Set();
  const rows = await tx<{ incident_id: string }[]>`
    insert into alert_incidents (incident_id, tenant_id, rule_id, group_name, status, severity, began_at, fired_at,
      resolved_at, value, worst, last_value, threshold, reason, told_at, period, level)
    select incident_id, ${tenant_id}, ${rule_id}, group_name, status, ${severity}, began_at, fired_at, resolved_at,
      value, worst, last_value, threshold, reason, case when told then now() end, period, level
    from jsonb_to_recordset(${JSON.stringify(incidents)}::text::jsonb)
      as n (incident_id uuid, group_name text, status text, began_at timestamptz, fired_at timestamptz,
        resolved_at timestamptz, value double precision, worst double precision, last_value double precision,
        threshold double precision, reason text, told boolean, period text, level text)
    on conflict do nothing returning incident_id`;
  return new Set(rows.map((row) => row.incident_id));
}

export type IncidentUpdate = Pick<
  IncidentChange,
  "incident_id" | "status" | "resolved_at" | "worst" | "last_value" | "threshold" | "reason" | "told"
>;

/** Updates firing incidents. @returns the ids of those that were firing */
export async function updateIncidents(tx: Transaction, incidents: readonly IncidentUpdate[]): Promise<Set<string>> {
  if (incidents.length === 0) return new Set();
  const rows = await tx<{ incident_id: string }[]>`
    update alert_incidents i set status = n.status, resolved_at = n.resolved_at, worst = n.worst,
      last_value = coalesce(n.last_value, i.last_value), threshold = coalesce(n.threshold, i.threshold), reason = n.reason,
      told_at = coalesce(i.told_at, case when n.told then now() end)
    from jsonb_to_recordset(${JSON.stringify(incidents)}::text::jsonb)
      as n (incident_id uuid, status text, resolved_at timestamptz, worst double precision,
        last_value double precision, threshold double precision, reason text, told boolean)
    where i.incident_id = n.incident_id and i.status = 'firing'
    returning i.incident_id`;
  return new Set(rows.map((row) => row.incident_id));
}

/** Resolves all firing incidents of a rule and forgets its groups. @returns the incidents whose firing was told */
export async function endIncidents(
  tx: Transaction,
  ruleId: string,
  reason: "changed" | "disabled",
): Promise<{ incident_id: string }[]> {
  await tx`delete from alert_groups where rule_id = ${ruleId}`;
  const rows = await tx<{ incident_id: string; told_at: Date | null }[]>`
    update alert_incidents set status = 'resolved', resolved_at = greatest(now(), fired_at), reason = ${reason}
    where rule_id = ${ruleId} and status = 'firing' returning incident_id, told_at`;
  return rows.filter((row) => row.told_at !== null);
}
