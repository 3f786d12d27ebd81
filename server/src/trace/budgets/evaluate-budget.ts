/**
 * Evaluates a claimed budget: reads the spend of the days that may have changed, then gives notices in one transaction
 * under a lock on the budget. Days and notices are stored under the rule's lease, so a process that was frozen stores
 * nothing.
 */
import { dueTicks, endWithProject, type EvaluationDeps, isSilenced } from "../alerts/evaluate-rule.ts";
import * as evaluation from "../alerts/evaluation-sql.ts";
import { enqueueMessages } from "../alerts/message-sql.ts";
import type { AlertRule } from "../alerts/sql.ts";
import { type Budget, dueNotices, isCurrent } from "./notices.ts";
import { readSpend } from "./read-spend.ts";
import * as rows from "./sql.ts";
import { listSubjects } from "./subjects.ts";

const HOUR_MS = 3_600_000;
/** Costs count that arrive up to so long after their day. */
const LATE_MS = 72 * HOUR_MS;
/** Time between reads of a day that has ended. */
const REREAD_MS = HOUR_MS;
/** Days of one statement. */
const MAX_DAYS = 8;
/** Notices of an evaluation; further ones are given at the next. */
const MAX_NOTICES = 100;

export async function evaluateBudget(
  deps: EvaluationDeps,
  claimed: evaluation.ClaimedRule,
  signal: AbortSignal,
): Promise<void> {
  const { sql, settings } = deps;
  if (await endWithProject(deps, claimed)) return;
  const ticks = dueTicks(claimed);
  if (!ticks) {
    const step = claimed.definition.interval_minutes * 60_000;
    await evaluation.postponeAlertRule(sql, claimed, step - (claimed.now.getTime() % step), null);
    return;
  }
  const { now } = claimed;
  const zone = claimed.budget!.time_zone;
  const [previous, current] = (await rows.findMonths(sql, zone, now, 1)) as [rows.Period, rows.Period];
  for (const days of await findDueDays(deps, claimed, previous.since)) {
    const spends = await readDays(deps, claimed, days);
    signal.throwIfAborted();
    const names = days.map(({ name }) => name);
    const isStored = await sql.begin(async (tx) => {
      const rule = await evaluation.lockEvaluation(tx, claimed);
      if (rule) await rows.replaceDays(tx, rule.rule_id, names, spends, now);
      return rule !== undefined;
    });
    if (!isStored) return;
  }
  // the month that has ended stays under watch for costs that arrive late
  const isOpen = now.getTime() < current.since + LATE_MS;
  await sql.begin(async (tx) => {
    const rule = await evaluation.lockEvaluation(tx, claimed);
    if (!rule) return;
    const budget = rule as AlertRule & Budget;
    const months = isOpen ? [previous, current] : [current];
    await giveNotices(tx, { ...budget, now: rule.now }, months, now, settings.pagerdutyUrl);
    await rows.setMeasured(tx, rule.rule_id, now);
    const last = ticks.first + (ticks.count - 1) * ticks.step;
    await evaluation.finishEvaluation(tx, rule.rule_id, new Date(last), new Date(last + ticks.step));
  });
  deps.alertMessages.wake();
}

type Days = [rows.Period, ...rows.Period[]];

/** Lists runs of consecutive days that were not read, or may have changed since, newest first. */
async function findDueDays({ sql }: EvaluationDeps, rule: evaluation.ClaimedRule, since: number): Promise<Days[]> {
  const now = rule.now.getTime();
  const days = await rows.listDays(sql, rule.budget!.time_zone, since, rule.now);
  const read = await rows.selectReadDays(sql, rule.rule_id, days[0]!.name);
  const isDue = ({ name, until }: rows.Period) => {
    const readAt = read.get(name)?.getTime();
    if (readAt === undefined || until > now || readAt > now) return true;
    return readAt < until + LATE_MS && (readAt < until || now - readAt >= REREAD_MS);
  };
  const parts: Days[] = [];
  for (const day of days) {
    const part = parts.at(-1);
    if (!isDue(day)) continue;
    if (part && part.length < MAX_DAYS && part.at(-1)!.until === day.since) part.push(day);
    else parts.push([day]);
  }
  return parts.toReversed();
}

async function readDays(deps: EvaluationDeps, rule: AlertRule, days: Days): Promise<rows.DaySpend[]> {
  try {
    return await readSpend(deps, rule, days);
  } catch (error) {
    if (days.length === 1) throw error;
    // all at once may be too much, which would be so for ever
    const spends: rows.DaySpend[] = [];
    for (const day of days) spends.push(...(await readSpend(deps, rule, [day])));
    return spends;
  }
}

async function giveNotices(
  tx: Parameters<typeof rows.selectOpenNotices>[0],
  rule: AlertRule & Budget & { now: Date },
  months: readonly rows.Period[],
  now: Date,
  pagerdutyUrl: string,
): Promise<void> {
  const told = !isSilenced(rule);
  const at = now.toISOString();
  const values = new Map<string, { spent: number; forecast: number }>();
  const key = (period: string, group: string) => `${period} ${group}`;
  const due = [];
  for (const month of months) {
    for (const subject of await listSubjects(tx, rule, month, now)) {
      values.set(key(month.name, subject.group), subject);
      due.push(...dueNotices(rule, month.name, subject).map((notice) => ({ ...notice, period: month.name })));
    }
  }
  const known = await rows.selectKnownNotices(
    tx,
    due.flatMap(({ unless }) => unless),
  );
  const fresh = due.filter(({ unless }) => !unless.some((id) => known.has(id))).slice(0, MAX_NOTICES);
  const open = await rows.selectOpenNotices(tx, rule.rule_id);
  const stored = await evaluation.insertIncidents(
    tx,
    rule,
    fresh.map(({ id, group, level, value, threshold, period }) => ({
      incident_id: id,
      group_name: group,
      status: "firing",
      began_at: at,
      fired_at: at,
      resolved_at: null,
      value,
      worst: value,
      last_value: value,
      threshold,
      reason: null,
      told,
      period,
      level,
    })),
  );
  const updates = open.flatMap((notice): (evaluation.IncidentUpdate & { wasTold: boolean })[] => {
    const { incident_id, period, group_name, level, worst, last_value, told: wasTold } = notice;
    const ended = period < months[0]!.name ? "period_ended" : isCurrent(rule, notice) ? null : "changed";
    const seen = values.get(key(period, group_name));
    const value = (seen && (level === "forecast" ? seen.forecast : seen.spent)) ?? null;
    if (ended === null && (value === null || value === last_value) && (wasTold || !told)) return [];
    return [
      {
        incident_id,
        status: ended === null ? "firing" : "resolved",
        resolved_at: ended === null ? null : at,
        worst: value === null ? worst : Math.max(worst ?? value, value),
        last_value: value,
        threshold: null,
        reason: ended,
        told: told && ended === null,
        wasTold,
      },
    ];
  });
  const changed = await evaluation.updateIncidents(tx, updates);
  const isTold = updates.filter(({ incident_id }) => changed.has(incident_id));
  const firing = isTold.filter((update) => update.told && !update.wasTold).map(({ incident_id }) => incident_id);
  const ended = isTold.filter((update) => update.wasTold && update.status === "resolved");
  await enqueueMessages(tx, rule, "firing", told ? [...stored, ...firing] : firing, pagerdutyUrl);
  await enqueueMessages(
    tx,
    rule,
    "resolved",
    ended.map(({ incident_id }) => incident_id),
    pagerdutyUrl,
  );
}
