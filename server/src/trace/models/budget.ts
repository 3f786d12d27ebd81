import { AppError, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { priceUsage } from "../prices/price-usage.ts";
import { findUsage, type Usage } from "../prices/usage.ts";
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import * as rows from "./budget-sql.ts";
import type { ReadyConnection } from "./resolve-connection.ts";

export interface Cost {
  prompt: string;
  completion: string;
  total: string;
}

/** Amount that is set aside for a call in progress. */
export interface Reservation {
  id: string;
  month: string;
}

/** Tokens that are reserved for an answer without `max_tokens`. */
const DEFAULT_OUTPUT_TOKENS = 1000;
/** More than any model's context; larger counts are a provider's mistake. */
const MAX_TOKENS = 100_000_000;

/** Returns the budget as the API shows it. */
export async function readBudget({ sql }: Pick<TraceDeps, "sql">, tenantId: string) {
  const row = await rows.findBudget(sql, tenantId);
  const left =
    row.limit_usd === null
      ? null
      : parseDecimal(row.limit_usd)! - parseDecimal(row.spent_usd)! - parseDecimal(row.reserved_usd)!;
  return {
    month: row.month.slice(0, 7),
    limit_usd: row.limit_usd,
    spent_usd: row.spent_usd,
    reserved_usd: row.reserved_usd,
    remaining_usd: left === null ? null : formatDecimal(left < 0n ? 0n : left),
    calls: row.calls,
    tokens: row.tokens,
    resets_at: `${row.next_month}T00:00:00Z`,
  };
}

/** Reads the usage that a client reports; undefined when there is none, or its counts are impossible. */
export function readUsage(reported: Record<string, unknown> | undefined, connection: ReadyConnection) {
  const usage = findUsage({ usage_metadata: reported }, { ls_provider: connection.provider.lsProvider });
  if (!usage) return undefined;
  const counts = [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens];
  return counts.some((count) => (count ?? 0) > MAX_TOKENS) ? undefined : usage;
}

/** Returns the cost of a usage; undefined when the model has no price. */
export async function priceCall(
  { prices }: Pick<TraceDeps, "prices">,
  tenantId: string,
  { provider, model }: ReadyConnection,
  usage: Usage,
): Promise<Cost | undefined> {
  const now = new Date().toISOString().replace("T", " ").replace("Z", "000");
  const price = await prices.find(tenantId, { name: model, provider: provider.lsProvider }, now);
  if (!price) return undefined;
  const { prompt_cost = "0", completion_cost = "0", total_cost = "0" } = priceUsage(usage, price);
  return { prompt: prompt_cost, completion: completion_cost, total: total_cost };
}

/**
 * Sets aside what a call will probably cost. Reservations of a workspace are made one after another, and each counts
 * until its call has ended: however many calls start at once, the budget is exceeded at most by the difference between
 * the cost of the calls in progress and their estimates.
 *
 * @throws 402 when the budget is used up; 422 when the model has no price, so that the budget cannot count it
 */
export async function reserve(
  deps: Pick<TraceDeps, "sql" | "prices">,
  tenantId: string,
  connection: ReadyConnection,
  {
    inputCharacters,
    seconds,
    outputTokens,
  }: { inputCharacters: number; seconds: number; outputTokens?: number | undefined },
): Promise<Reservation> {
  const output = outputTokens ?? connection.parameters["max_tokens"];
  const estimate = await priceCall(deps, tenantId, connection, {
    prompt_tokens: estimateTokens(inputCharacters),
    completion_tokens: typeof output === "number" ? output : DEFAULT_OUTPUT_TOKENS,
  });
  const id = uuid7();
  return deps.sql.begin(async (tx) => {
    await rows.lockSpending(tx, tenantId);
    await rows.deleteExpiredReservations(tx, tenantId);
    const { month, next_month, limit_usd: limit, spent_usd, reserved_usd } = await rows.findBudget(tx, tenantId);
    if (limit !== null) {
      if (!estimate && !connection.provider.mayBeFree) throw noPrice(connection);
      const used = parseDecimal(spent_usd)! + parseDecimal(reserved_usd)!;
      const needed = parseDecimal(estimate?.total ?? "0")!;
      const most = parseDecimal(limit)!;
      if (used >= most || used + needed > most) {
        throw new AppError(
          402,
          `The model budget of this workspace for ${month.slice(0, 7)} does not cover this call: ` +
            `${formatDecimal(used)} of ${limit} USD are spent or reserved, and the call may cost ${formatDecimal(needed)} USD. ` +
            `Raise the budget (PUT /api/v1/models/budget), lower max_tokens, or wait until ${next_month}.`,
        );
      }
    }
    await rows.insertReservation(tx, tenantId, { id, month, amount: estimate?.total ?? "0", seconds });
    return { id, month };
  });
}

const noPrice = ({ model, provider }: ReadyConnection): AppError =>
  unprocessable(
    `model: "${model}" of ${provider.name} has no price, so the workspace's model budget cannot count it. ` +
      "Add its price (POST /api/v1/model-price-map), or remove the budget.",
  );

/** Replaces a reservation by the call's cost. */
export const settle = (
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  { id, month }: Reservation,
  { cost, tokens }: { cost: string; tokens: number },
): PromiseLike<unknown> => rows.settleReservation(sql, tenantId, { id, month, cost, tokens });

/** Estimates tokens: four characters each, as in English. */
export const estimateTokens = (characters: number): number => Math.ceil(characters / 4);
