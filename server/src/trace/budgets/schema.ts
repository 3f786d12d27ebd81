import { z } from "zod";

import { queryLimit, queryOffset, storableText, uuid } from "../../base/http/fields.ts";
import { actions, shownAction } from "../alerts/channel-schema.ts";
import { severity } from "../alerts/schema.ts";

/** Budgets are Heddle's own; the contract has none. */

export const MAX_BUDGETS = 100;

const time = z.iso.datetime({ offset: true });

/** Zones by their names; offsets and abbreviations have no daylight-saving time. */
function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

const fields = {
  name: storableText.trim().min(1).max(200),
  description: storableText.max(5000).nullish(),
  limit_usd: z.number().gt(0).max(1e12),
  per: z.enum(["total", "user"]).nullish().describe("Whether the limit is that of the whole, or of each user."),
  user_key: storableText.min(1).max(250).nullish().describe("Metadata of roots that names the user."),
  filter: storableText.max(32_768).nullish().describe("Filter on the roots of traces."),
  thresholds: z.array(z.int().min(1).max(1000)).max(10).nullish().describe("Percentages of the limit."),
  forecast_threshold: z
    .int()
    .min(1)
    .max(1000)
    .nullish()
    .describe("Percentage of the limit at which the forecast is told; null: never."),
  time_zone: z.string().max(100).refine(isTimeZone, "must be a time zone such as Europe/Berlin").nullish(),
  severity: severity.nullish(),
  enabled: z.boolean().nullish(),
  silenced_until: time.nullish(),
};

export const createBody = z
  .object({ ...fields, id: uuid.nullish(), session_id: uuid.nullish(), actions: actions.nullish() })
  .meta({ id: "BudgetCreate" });
export type CreateBody = z.output<typeof createBody>;

/** Missing fields stay unchanged; the project cannot be changed. */
export const patchBody = z
  .object({
    ...fields,
    name: fields.name.optional(),
    limit_usd: fields.limit_usd.optional(),
    actions: actions.optional(),
  })
  .meta({ id: "BudgetUpdate" });
export type PatchBody = z.output<typeof patchBody>;

export const budgetParams = z.object({ budget_id: uuid });

const month = z
  .string()
  .regex(/^20\d\d-(0[1-9]|1[0-2])$/, "must be a month such as 2026-11")
  .optional()
  .describe("Default: the current month in the budget's time zone.");
export const monthQuery = z.object({ month });
export const listQuery = z.object({ month, limit: queryLimit(100, MAX_BUDGETS), offset: queryOffset });
export const spendQuery = z.object({
  month,
  search: z.string().max(250).optional().describe("Part of the user's name."),
  limit: queryLimit(50, 200),
  offset: queryOffset,
});

const usd = z.number();
export const budget = z
  .object({
    id: z.guid(),
    session_id: z.guid().nullable(),
    session_name: z.string().nullable(),
    name: z.string(),
    description: z.string(),
    limit_usd: usd,
    per: z.enum(["total", "user"]),
    user_key: z.string(),
    filter: z.string().nullable(),
    thresholds: z.array(z.int()),
    forecast_threshold: z.int().nullable(),
    time_zone: z.string(),
    severity,
    enabled: z.boolean(),
    disabled_reason: z.string().nullable(),
    silenced_until: z.string().nullable(),
    actions: z.array(shownAction),
    month: z.object({
      month: z.string(),
      since: z.string(),
      until: z.string(),
      /** Of the whole. */
      spent_usd: usd,
      forecast_usd: usd,
      /** What is compared with the limit: the whole, or the user with the highest spend. */
      user: z.string().nullable(),
      compared_usd: usd,
      compared_forecast_usd: usd,
      /** The highest threshold that it has reached, in percent. */
      reached: z.int().nullable(),
    }),
    measured_at: z.string().nullable(),
    /** Why the last evaluation failed. */
    error: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "Budget" });

export const spend = z
  .object({
    month: z.string(),
    days: z.array(z.object({ day: z.string(), spent_usd: usd })),
    /** Traces without a user are in no row. */
    users: z.array(z.object({ user: z.string(), spent_usd: usd, forecast_usd: usd, percent_of_limit: z.number() })),
  })
  .meta({ id: "BudgetSpend" });
