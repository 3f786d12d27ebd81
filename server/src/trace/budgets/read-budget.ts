import type { z } from "zod";

import { databaseNow } from "../../base/db/database-now.ts";
import type { Sql } from "../../base/db/connect.ts";
import { inParallel } from "../../base/in-parallel.ts";
import { serializeRule } from "../alerts/serialize-alert.ts";
import { type ListedRule, listAlertRules } from "../alerts/sql.ts";
import { unknownBudget } from "./change-budget.ts";
import { amountOf, type Budget } from "./notices.ts";
import * as schema from "./schema.ts";
import { findMonth, findMonths, listDaySpend, type Period } from "./sql.ts";
import { findRecent, listForecasts, type Recent } from "./subjects.ts";

type Shown = z.output<typeof schema.budget>;

/** Lists budgets with their spend of a month, as the evaluation has recorded it. */
export async function listBudgets(
  sql: Sql,
  tenantId: string,
  { month, limit, offset }: z.output<typeof schema.listQuery>,
): Promise<Shown[]> {
  const now = await databaseNow(sql);
  const budgets = await listAlertRules(sql, tenantId, { kind: "budget" }, { limit, offset });
  return inParallel(budgets, 4, (budget) => showBudget(sql, budget as ListedRule & Budget, month, now));
}

async function findBudget(sql: Sql, tenantId: string, id: string): Promise<ListedRule & Budget> {
  const [budget] = await listAlertRules(sql, tenantId, { kind: "budget", id }, { limit: 1, offset: 0 });
  if (!budget) throw unknownBudget(id);
  return budget as ListedRule & Budget;
}

/** @throws 404 */
export async function readBudget(sql: Sql, tenantId: string, id: string, month?: string): Promise<Shown> {
  return showBudget(sql, await findBudget(sql, tenantId, id), month, await databaseNow(sql));
}

/** Reads the spend of a month by day and by user. @throws 404 */
export async function readMonthSpend(
  sql: Sql,
  tenantId: string,
  id: string,
  { month: name, search, limit, offset }: z.output<typeof schema.spendQuery>,
): Promise<z.output<typeof schema.spend>> {
  const budget = await findBudget(sql, tenantId, id);
  const { month, now, recent } = await locate(sql, budget, name, await databaseNow(sql));
  const users = await listForecasts(sql, budget, month, now, recent, { groups: "users", search, limit, offset });
  const days = await listDaySpend(sql, id, month.name);
  return {
    month: month.name,
    days: days.map(({ day, spent }) => ({ day, spent_usd: spent })),
    users: users.map(({ group, spent, forecast }) => {
      const percent_of_limit = (100 * spent) / budget.budget.limit;
      return { user: group, spent_usd: spent, forecast_usd: forecast, percent_of_limit };
    }),
  };
}

async function locate(
  sql: Sql,
  budget: ListedRule & Budget,
  name: string | undefined,
  databaseTime: Date,
): Promise<{ month: Period; now: Date; recent: Recent }> {
  const zone = budget.budget.time_zone;
  const month =
    name === undefined ? (await findMonths(sql, zone, databaseTime, 0))[0] : await findMonth(sql, zone, name);
  // what is recorded was spent until then
  const now = budget.measured_at ?? databaseTime;
  return { month, now, recent: await findRecent(sql, budget, now) };
}

async function showBudget(
  sql: Sql,
  budget: ListedRule & Budget,
  name: string | undefined,
  databaseTime: Date,
): Promise<Shown> {
  const { month, now, recent } = await locate(sql, budget, name, databaseTime);
  const first = async (groups: "total" | "users") =>
    (await listForecasts(sql, budget, month, now, recent, { groups, limit: 1, offset: 0 }))[0];
  const total = await first("total");
  const { limit, per, user_key, thresholds, forecast, time_zone } = budget.budget;
  const compared = per === "total" ? total : await first("users");
  const spent = compared?.spent ?? 0;
  const { rule, actions } = serializeRule(budget);
  // an alert rule has more fields
  return schema.budget.parse({
    ...rule,
    limit_usd: limit,
    per,
    user_key,
    thresholds,
    forecast_threshold: forecast,
    time_zone,
    actions,
    month: {
      month: month.name,
      since: new Date(month.since).toISOString(),
      until: new Date(month.until).toISOString(),
      spent_usd: total?.spent ?? 0,
      forecast_usd: total?.forecast ?? 0,
      user: (per === "user" && compared?.group) || null,
      compared_usd: spent,
      compared_forecast_usd: compared?.forecast ?? 0,
      reached: thresholds.findLast((level) => spent >= amountOf(budget, String(level))) ?? null,
    },
    measured_at: budget.measured_at?.toISOString() ?? null,
  });
}
