/**
 * Decides about notices. A notice is an incident whose id follows from the budget's terms, the month, the group and the
 * threshold, so each is given once, whatever is repeated, killed or put back. Pure.
 */
import { uuid5 } from "../../base/ids.ts";
import type { AlertRule } from "../alerts/sql.ts";

const NAMESPACE = "0d3c1d0c-6c5f-5a8e-9b43-0c2d9a3e7f55";

/** Threshold in percent, or `forecast`. */
export type Level = string;

export type Budget = Pick<AlertRule, "rule_id" | "project_id" | "definition"> & {
  budget: NonNullable<AlertRule["budget"]>;
};

/** Identifies a notice. A change of what is counted, or of the limit, makes other notices; one of the thresholds not. */
function noticeId({ rule_id, definition, budget }: Budget, period: string, group: string, level: Level): string {
  const { limit, per, user_key, time_zone, forecast } = budget;
  const share = level === "forecast" ? `forecast ${forecast}` : level;
  const terms = [rule_id, definition.filter, per, user_key, time_zone, limit, period, group, share];
  return uuid5(JSON.stringify(terms), NAMESPACE);
}

/** Amount of a level, in USD. */
export const amountOf = ({ budget: { limit, forecast } }: Budget, level: Level): number =>
  (limit * (level === "forecast" ? (forecast ?? 100) : Number(level))) / 100;

export interface Subject {
  group: string;
  spent: number;
  forecast: number;
}

export interface Notice {
  id: string;
  group: string;
  level: Level;
  value: number;
  threshold: number;
  /** Notices that make this one superfluous if any was given: those of the same or a higher threshold. */
  unless: string[];
}

/** Lists the notices that a group's spend calls for: of the highest threshold that it has reached, and its forecast. */
export function dueNotices(budget: Budget, period: string, { group, spent, forecast }: Subject): Notice[] {
  const { thresholds, forecast: share } = budget.budget;
  const compose = (level: Level, value: number, unless: readonly Level[]): Notice => ({
    id: noticeId(budget, period, group, level),
    group,
    level,
    value,
    threshold: amountOf(budget, level),
    unless: unless.map((other) => noticeId(budget, period, group, other)),
  });
  const levels = thresholds.map(String);
  const reached = levels.findLastIndex((level) => spent >= amountOf(budget, level));
  const notices = reached === -1 ? [] : [compose(levels[reached]!, spent, levels.slice(reached))];
  const limit = share === null ? Infinity : amountOf(budget, "forecast");
  // what is spent already is no forecast
  if (spent < limit && forecast >= limit) notices.push(compose("forecast", forecast, ["forecast"]));
  return notices;
}

/** Whether a notice still belongs to the budget's terms. */
export const isCurrent = (
  budget: Budget,
  { incident_id, period, group_name, level }: { incident_id: string; period: string; group_name: string; level: Level },
): boolean =>
  (level === "forecast" ? budget.budget.forecast !== null : budget.budget.thresholds.includes(Number(level))) &&
  noticeId(budget, period, group_name, level) === incident_id;
