import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import type { Model, ModelPrice } from "./model-prices.ts";
import { countTokens, isLifetime, plainCategory, type Usage, withoutOverlap } from "./usage.ts";

/**
 * Adds costs to a call's usage. Costs reported by the client are kept. Tokens that the details count under a key with a
 * separate price (`cache_read`) cost that price, all others the general one.
 */
export function priceUsage(reported: Usage, price: ModelPrice): Usage {
  const usage = reported.basis ? reported : { ...reported, ...recount(reported) };
  if (usage.total_cost !== undefined || usage.prompt_cost !== undefined || usage.completion_cost !== undefined)
    return reported;
  if (usage.prompt_tokens === undefined && usage.completion_tokens === undefined) return reported;
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
  const notes = [...(usage.basis?.notes ?? []), ...prompt.notes, ...completion.notes];
  return {
    ...usage,
    prompt_cost: formatDecimal(prompt.total),
    completion_cost: formatDecimal(completion.total),
    total_cost: formatDecimal(prompt.total + completion.total),
    prompt_cost_details: prompt.details,
    completion_cost_details: completion.details,
    basis: { ...usage.basis, cost: "price", ...(notes.length > 0 && { notes }) },
  };
}

/** Returns the usage with a note that there is no price, unless the client reports the cost. */
export function withoutPrice(usage: Usage, model: Model | undefined): Usage {
  const { prompt_tokens, completion_tokens, total_tokens, basis } = usage;
  const hasTokens = [prompt_tokens, completion_tokens, total_tokens].some((count) => count !== undefined && count > 0);
  if (basis?.cost === "client" || !hasTokens || !model) return usage;
  const provider = model.provider === "" ? "" : ` of ${model.provider}`;
  return {
    ...usage,
    basis: { ...basis, notes: [...(basis?.notes ?? []), `no price for model ${model.name}${provider}`] },
  };
}

/** Determines what the counts of a usage include that was not read from a client's report. */
const recount = ({
  prompt_tokens,
  completion_tokens,
  total_tokens,
  prompt_token_details = {},
  completion_token_details = {},
}: Usage): Usage =>
  countTokens(
    {
      input: prompt_tokens,
      output: completion_tokens,
      total: total_tokens,
      inputDetails: prompt_token_details,
      outputDetails: completion_token_details,
    },
    "",
  );

type Prices = Record<string, string | number> | null;

/** Tiers of service: the price of all tokens of the call that have none of their own. */
const TIERS = new Set(["batch", "flex", "priority"]);

function computeCost(
  tokens: number | undefined,
  details: Record<string, number> | undefined,
  price: string,
  prices: Prices,
): { total: bigint; details: Record<string, string> | undefined; notes: string[] } {
  let left = BigInt(tokens ?? 0);
  let total = 0n;
  const parts: Record<string, string> = {};
  const notes: string[] = [];
  const categories = Object.entries(withoutOverlap(details ?? {})).filter(([, count]) => count > 0);
  // what is left of a tier costs its price
  for (const [key, count] of categories.toSorted(([a], [b]) => Number(TIERS.has(a)) - Number(TIERS.has(b)))) {
    const own = findPrice(prices, key);
    if (own === undefined) {
      if (isPricedApart(key)) notes.push(`no price for ${key}: its ${count} tokens cost the general price`);
      continue;
    }
    if (own.key !== key) notes.push(`no price for ${key}: its ${count} tokens cost the price of ${own.key}`);
    // audio may be cached too, and is then counted twice
    const counted = BigInt(count) < left ? BigInt(count) : left;
    if (counted < BigInt(count) && !TIERS.has(key))
      notes.push(`${BigInt(count) - counted} of ${count} tokens of ${key} are also in other categories, billed once`);
    left -= counted;
    total += counted * own.price;
    parts[key] = formatDecimal(counted * own.price);
  }
  total += left * (parseDecimal(price) ?? 0n);
  return { total, details: Object.keys(parts).length > 0 ? parts : undefined, notes };
}

/** Whether providers usually price the category differently, so that its price is missed. */
const isPricedApart = (key: string): boolean => {
  const plain = plainCategory(key);
  return TIERS.has(key) || plain === "cache_read" || plain === "cache_creation" || plain === "audio" || isLifetime(key);
};

/** Finds the category's price, else that of the nearest category. */
function findPrice(prices: Prices, key: string): { key: string; price: bigint } | undefined {
  if (!prices) return undefined;
  const plain = plainCategory(key);
  const tier = /^(batch|flex|priority)_/.exec(key)?.[1];
  const written = isLifetime(key) || plain === "cache_creation" ? ["cache_creation", "ephemeral_5m_input_tokens"] : [];
  const unsized = key.replace(/_over_200k$/, "");
  const names = [key, ...(tier ? [unsized, ...(plain === "reasoning" ? [tier] : []), plain] : [plain]), ...written];
  for (const name of names) {
    const price = Object.hasOwn(prices, name) ? parseDecimal(prices[name]) : undefined;
    if (price !== undefined) return { key: name, price };
  }
  return undefined;
}
