import { unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { selectSpending } from "./spend-sql.ts";
import type { SpendQuery } from "./wire-schema.ts";

/** Length of the period, as the contract has it. */
const DAYS = 7;
const DAY_MS = 86_400_000;

/** Reads what evaluators spent in a week, by UTC day, beside the week before. @throws 422 for an unsupported grouping */
export async function readSpending({ sql }: Pick<TraceDeps, "sql">, tenantId: string, query: SpendQuery) {
  const { period_start: since, group_by: grouping, evaluator_id: evaluator, type, feedback_key: feedbackKey } = query;
  if ((grouping === undefined) === (evaluator === undefined)) {
    throw unprocessable("group_by: required, or an evaluator_id, and not both");
  }
  const end = new Date(Date.parse(since) + (DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
  const filter = { evaluator, type, feedbackKey, resources: query.resource_id };
  const rows = await selectSpending(sql, tenantId, since, DAYS, filter);
  const groups = rows.map(({ evaluator_id, evaluator_name, days }) => {
    const [before, now] = [days.filter(({ day }) => day < since), days.filter(({ day }) => day >= since)];
    return {
      evaluator_id,
      evaluator_name,
      days: now.map(({ day, spent, judgements }) => ({ date: day, spend_usd: spent, trace_count: judgements })),
      total_spend_usd: sum(now.map(({ spent }) => spent)),
      total_trace_count: sum(now.map(({ judgements }) => judgements)),
      prev_total_spend_usd: sum(before.map(({ spent }) => spent)),
      prev_total_trace_count: sum(before.map(({ judgements }) => judgements)),
    };
  });
  return { groups, period_start: since, period_end: end };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
