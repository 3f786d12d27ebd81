import type { Period } from "./sql.ts";

const DAY_MS = 86_400_000;

/** Days before today whose mean the forecast extrapolates: each day of the week once. */
export const RECENT_DAYS = 7;

/**
 * Days of the mean: since the first of the recent days, or since the first on which the budget was spent at all, at
 * least one.
 */
export const recentDays = (now: number, since: number): number => Math.max(1, (now - since) / DAY_MS);

/** Forecasts a month: what was spent, and the mean of the recent days for the rest of it. */
export function forecast(month: Period, now: number, spend: { spent: number; recent: number }, days: number): number {
  const left = Math.max(0, month.until - Math.max(now, month.since)) / DAY_MS;
  return spend.spent + (left * spend.recent) / days;
}
