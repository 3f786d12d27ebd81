/**
 * Evaluates a claimed rule at the ticks since its last one, and stores the new states, the incidents and the messages
 * in one transaction, under a lock on the rule. Ticks, and so the ids of incidents, follow from the database's clock
 * and the interval alone: a repeated evaluation changes nothing.
 */
import type { TraceDeps } from "../deps.ts";
import { isPlatformMetric } from "./definition.ts";
import { evaluateTicks, type Group } from "./evaluate-ticks.ts";
import * as rows from "./evaluation-sql.ts";
import { enqueueMessages } from "./message-sql.ts";
import { readObservations, type Ticks } from "./read-metric.ts";
import type { AlertRule } from "./sql.ts";

/** Missed ticks that are evaluated later; older ones are skipped. */
const MAX_MISSED = 60;

/** @returns undefined when no tick is due */
export function dueTicks({ now, evaluated_at, definition }: rows.ClaimedRule): Ticks | undefined {
  const step = definition.interval_minutes * 60_000;
  const tick = (time: number) => Math.floor(time / step) * step;
  const last = tick(now.getTime());
  const evaluated = evaluated_at === null ? undefined : tick(evaluated_at.getTime());
  // evaluated before the clock was put back: begin anew
  if (evaluated === undefined || evaluated > last + 2 * step) return { first: last, count: 1, step };
  const first = Math.max(evaluated + step, last - (MAX_MISSED - 1) * step);
  return first > last ? undefined : { first, count: (last - first) / step + 1, step };
}

export type EvaluationDeps = Pick<
  TraceDeps,
  "sql" | "clickhouse" | "projects" | "settings" | "alertMessages" | "health" | "agentFigures"
>;

/** Disables a rule whose project was deleted. @returns whether it was */
export async function endWithProject(deps: EvaluationDeps, claimed: rows.ClaimedRule): Promise<boolean> {
  const { tenant_id, project_id } = claimed;
  if (project_id === null || (await deps.projects.hasProject(tenant_id, project_id))) return false;
  await deps.sql.begin(async (tx) => {
    const rule = await rows.lockEvaluation(tx, claimed);
    if (!rule) return;
    await rows.disableAlertRule(tx, rule.rule_id, "Its project was deleted.");
    await endRule(tx, rule, "disabled", deps.settings.pagerdutyUrl);
  });
  deps.alertMessages.wake();
  return true;
}

export async function evaluateRule(
  deps: EvaluationDeps,
  claimed: rows.ClaimedRule,
  signal: AbortSignal,
): Promise<void> {
  const { sql, settings } = deps;
  if (await endWithProject(deps, claimed)) return;
  let ticks = dueTicks(claimed);
  if (!ticks) {
    const step = claimed.definition.interval_minutes * 60_000;
    await rows.postponeAlertRule(sql, claimed, step - (claimed.now.getTime() % step), null);
    return;
  }
  const present = { ...ticks, first: ticks.first + (ticks.count - 1) * ticks.step, count: 1 };
  if (isPlatformMetric(claimed.definition.attribute)) ticks = present;
  let observations;
  try {
    observations = await readObservations(deps, claimed, ticks);
  } catch (error) {
    if (ticks.count === 1 || signal.aborted) throw error;
    // all missed ticks at once may be too much, which would be so for ever
    ticks = present;
    observations = await readObservations(deps, claimed, ticks);
  }
  signal.throwIfAborted();
  const due = ticks;
  await sql.begin(async (tx) => {
    const rule = await rows.lockEvaluation(tx, claimed);
    if (!rule) return;
    const before = new Map((await rows.selectGroups(tx, rule.rule_id)).map((row) => [row.group_name, toGroup(row)]));
    const key = `${rule.rule_id}/${rule.generation}`;
    const { groups, incidents } = evaluateTicks(rule.definition, key, before, due, observations);
    const told = new Set(incidents.filter((incident) => incident.told).map((incident) => incident.incident_id));
    // one that ended before now is told unless it was silenced when it ended
    for (const incident of incidents) {
      const at = incident.resolved_at === null ? rule.now : new Date(incident.resolved_at);
      if (!isSilenced({ ...rule, now: at })) incident.told = true;
    }
    const stored = await rows.insertIncidents(
      tx,
      rule,
      incidents.filter((incident) => incident.isNew),
    );
    const updated = await rows.updateIncidents(
      tx,
      incidents.filter((incident) => !incident.isNew),
    );
    const changed = incidents.filter(({ incident_id: id }) => stored.has(id) || updated.has(id));
    await rows.replaceGroups(
      tx,
      rule.rule_id,
      Array.from(groups, ([group_name, { status, breaches, began_at, incident }]) => {
        return { group_name, status, breaches, began_at, incident_id: incident?.incident_id ?? null };
      }),
    );
    const ids = (of: typeof incidents) => of.map((incident) => incident.incident_id);
    const fired = changed.filter((incident) => incident.told && !told.has(incident.incident_id));
    const ended = changed.filter((incident) => incident.told && incident.status === "resolved");
    await enqueueMessages(tx, rule, "firing", ids(fired), settings.pagerdutyUrl);
    await enqueueMessages(tx, rule, "resolved", ids(ended), settings.pagerdutyUrl);
    const last = ticks.first + (ticks.count - 1) * ticks.step;
    await rows.finishEvaluation(tx, rule.rule_id, new Date(last), new Date(last + ticks.step));
  });
  deps.alertMessages.wake();
}

/** Resolves what fires, and tells it. The rule is locked by the transaction. */
export async function endRule(
  tx: Parameters<typeof rows.endIncidents>[0],
  rule: Pick<AlertRule, "rule_id" | "tenant_id" | "actions" | "budget">,
  reason: "changed" | "disabled",
  pagerdutyUrl: string,
): Promise<void> {
  const ended = await rows.endIncidents(tx, rule.rule_id, reason);
  const ids = ended.map((incident) => incident.incident_id);
  await enqueueMessages(tx, rule, "resolved", ids, pagerdutyUrl);
}

export function isSilenced({
  silenced_until,
  maintenance,
  now,
}: Pick<AlertRule, "silenced_until" | "maintenance"> & { now: Date }): boolean {
  if (silenced_until !== null && silenced_until > now) return true;
  const time = now.getTime();
  return maintenance.some(({ starts_at, ends_at }) => Date.parse(starts_at) <= time && time < Date.parse(ends_at));
}

function toGroup(row: rows.GroupRow): Group {
  const { group_name, status, breaches, incident_id, worst, told_at } = row;
  const began_at = row.began_at.toISOString();
  if (incident_id === null) return { status, breaches, began_at, incident: null };
  // what a stored incident keeps is not written again
  const kept = { fired_at: began_at, resolved_at: null, value: null, threshold: null, reason: null, last_value: null };
  const incident = { isNew: false, incident_id, group_name, status: "firing" as const, began_at, worst, ...kept };
  return { status, breaches, began_at, incident: { ...incident, told: told_at !== null } };
}
