import { parseDecimal, formatDecimal } from "../run-rows/decimal.ts";
import type { Usage } from "./usage.ts";
import type { ModelPrice } from "./model-prices.ts";

/**
 * Adds costs to a call's usage. Costs reported by the client are kept. Tokens that the details count under a key with a
 * separate price (`cache_read`) cost that price, all others the general one.
 */
export function priceUsage(usage: Usage, price: ModelPrice): Usage {
  if (usage.total_cost !== undefined || usage.prompt_cost !== undefined || usage.completion_cost !== undefined)
    return usage;
  if (usage.prompt_tokens === undefined && usage.completion_tokens === undefined) return usage;
  const prompt = computeCost(
    usage.prompt_tokens,
    usage.prompt_token_details,
    price.prompt_cost,
    price.prompt_cost_details,
  );
  const completion = computeCost(
    usage.completion_tokens,
    usage.completion_token_details,
    price.completion_cost,
    price.completion_cost_details,
  );
  return {
    ...usage,
    prompt_cost: formatDecimal(prompt.total),
    completion_cost: formatDecimal(completion.total),
    total_cost: formatDecimal(prompt.total + completion.total),
    prompt_cost_details: prompt.details,
    completion_cost_details: completion.details,
  };
}

function computeCost(
  tokens: number | undefined,
  details: Record<string, number> | undefined,
  price: string,
  prices: Record<string, string | number> | null,
): { total: bigint; details: Record<string, string> | undefined } {
  let left = BigInt(tokens ?? 0);
  let total = 0n;
  const parts: Record<string, string> = {};
  for (const [key, count] of Object.entries(details ?? {})) {
    const own = prices && Object.hasOwn(prices, key) ? parseDecimal(prices[key]) : undefined;
    if (own === undefined) continue;
    // details that exceed the total would make the rest negative
    const counted = BigInt(count) < left ? BigInt(count) : left;
    left -= counted;
    total += counted * own;
    parts[key] = formatDecimal(counted * own);
  }
  total += left * (parseDecimal(price) ?? 0n);
  return { total, details: Object.keys(parts).length > 0 ? parts : undefined };
}
