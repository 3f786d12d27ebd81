import type { Sql, Transaction } from "../../base/db/connect.ts";
import { forecast, RECENT_DAYS, recentDays } from "./forecast.ts";
import type { Budget, Subject } from "./notices.ts";
import { findFirstSpend, listDays, listSpend, type Period, type SpendFilter } from "./sql.ts";

/** Users whose spend is compared with the limit, those with the highest. */
const MAX_SUBJECTS = 10_000;

/** Days whose mean the forecasts extrapolate. */
export interface Recent {
  since: string;
  days: number;
}

export async function findRecent(sql: Sql | Transaction, { rule_id, budget }: Budget, now: Date): Promise<Recent> {
  const before = now.getTime() - RECENT_DAYS * 86_400_000;
  const days = await listDays(sql, budget.time_zone, before, now);
  const first = await findFirstSpend(sql, rule_id, days[0]!.name);
  const day = days.find(({ name }) => name === first) ?? days[0]!;
  return { since: days[0]!.name, days: recentDays(now.getTime(), day.since) };
}

/** Lists the spend of groups in a month with their forecasts, the highest spend first. */
export async function listForecasts(
  sql: Sql | Transaction,
  { rule_id }: Budget,
  month: Period,
  now: Date,
  { since, days }: Recent,
  filter: Omit<SpendFilter, "month" | "recentSince">,
): Promise<Subject[]> {
  const spends = await listSpend(sql, rule_id, { ...filter, month: month.name, recentSince: since });
  return spends.map((spend) => ({
    group: spend.group_name,
    spent: spend.spent,
    forecast: forecast(month, now.getTime(), spend, days),
  }));
}

/** Lists what is compared with the budget's limit: the whole, or each user. */
export async function listSubjects(
  sql: Sql | Transaction,
  budget: Budget,
  month: Period,
  now: Date,
): Promise<Subject[]> {
  const groups = budget.budget.per === "total" ? "total" : "users";
  const recent = await findRecent(sql, budget, now);
  return listForecasts(sql, budget, month, now, recent, { groups, limit: MAX_SUBJECTS, offset: 0 });
}
