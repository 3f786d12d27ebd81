/**
 * Reads a price list in LiteLLM's format (`model_prices_and_context_window.json`): an object of models, with prices in
 * dollars per token. Prices of anything but tokens (images, seconds, queries) are not part of a run's usage and are
 * left out.
 */
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";

export interface ListedPrice {
  name: string;
  match_pattern: string;
  provider: string | null;
  prompt_cost: string;
  completion_cost: string;
  prompt_cost_details: Record<string, string> | null;
  completion_cost_details: Record<string, string> | null;
}

/** Patterns of the names that clients give the providers of the list. All others match by the list's own name. */
const PROVIDERS: Record<string, string> = {
  openai: "^(azure|openai)",
  "text-completion-openai": "^(azure|openai)",
  azure: "azure",
  azure_ai: "azure",
  anthropic: "^anthropic",
  gemini: "google|gemini|vertex|gcp",
  "vertex_ai-language-models": "google|gemini|vertex|gcp",
  "vertex_ai-anthropic_models": "google|vertex|gcp|anthropic",
  bedrock: "bedrock|aws|amazon",
  bedrock_converse: "bedrock|aws|amazon",
  cohere_chat: "cohere",
  mistral: "mistral",
  xai: "xai|x_ai|x\\.ai|grok",
};

/** Details by the key that clients report, with the prices that the list may have. */
const PROMPT: Record<string, string[]> = {
  cache_read: ["cache_read_input_token_cost", "input_cost_per_token_cache_hit"],
  cache_creation: ["cache_creation_input_token_cost"],
  ephemeral_5m_input_tokens: ["cache_creation_input_token_cost"],
  ephemeral_1h_input_tokens: ["cache_creation_input_token_cost_above_1hr"],
  audio: ["input_cost_per_audio_token"],
  batch: ["input_cost_per_token_batches"],
  batch_cache_read: ["cache_read_input_token_cost_batches"],
  flex: ["input_cost_per_token_flex"],
  flex_cache_read: ["cache_read_input_token_cost_flex"],
  priority: ["input_cost_per_token_priority"],
  priority_cache_read: ["cache_read_input_token_cost_priority"],
  over_200k: ["input_cost_per_token_above_200k_tokens"],
  cache_read_over_200k: ["cache_read_input_token_cost_above_200k_tokens"],
};
const COMPLETION: Record<string, string[]> = {
  reasoning: ["output_cost_per_reasoning_token"],
  audio: ["output_cost_per_audio_token"],
  batch: ["output_cost_per_token_batches"],
  flex: ["output_cost_per_token_flex"],
  priority: ["output_cost_per_token_priority"],
  over_200k: ["output_cost_per_token_above_200k_tokens"],
};

/** Reads the models that have a price per token. @throws TypeError for a text that is no price list */
export function readPriceList(text: string): ListedPrice[] {
  const list = JSON.parse(text) as unknown;
  if (!isRecord(list)) throw new TypeError("it is not an object of models");
  const prices = new Map<string, ListedPrice>();
  for (const [key, entry] of Object.entries(list)) {
    if (key === "sample_spec" || !isRecord(entry)) continue;
    for (const price of readEntry(key, entry)) {
      const identity = `${price.match_pattern} ${price.provider ?? ""}`;
      // of a model listed twice, as `gemini/x` and `x`, the first is used
      if (!prices.has(identity)) prices.set(identity, price);
    }
  }
  if (prices.size === 0) throw new TypeError("no model in it has a price per token");
  return [...prices.values()];
}

function readEntry(key: string, entry: Record<string, unknown>): ListedPrice[] {
  const cost = (...names: string[]): string | undefined => {
    const name = names.find((candidate) => entry[candidate] != null);
    if (name === undefined) return undefined;
    const parsed = parseDecimal(entry[name]);
    if (parsed !== undefined && parsed >= 0n) return formatDecimal(parsed);
    throw new TypeError(`${name} of "${key}" is not a price: ${JSON.stringify(entry[name])}`);
  };
  const details = (prices: Record<string, string[]>): Record<string, string> | null => {
    const found = Object.entries(prices).flatMap(([detail, names]) => {
      const value = cost(...names);
      return value === undefined ? [] : [[detail, value] as const];
    });
    return found.length > 0 ? Object.fromEntries(found) : null;
  };
  const prompt = cost("input_cost_per_token");
  const completion = cost("output_cost_per_token");
  if (prompt === undefined && completion === undefined) return [];
  const listed = typeof entry["litellm_provider"] === "string" ? entry["litellm_provider"] : "";
  const price = {
    provider: PROVIDERS[listed] ?? (listed === "" ? null : escaped(listed)),
    prompt_cost: prompt ?? "0",
    completion_cost: completion ?? "0",
    prompt_cost_details: details(PROMPT),
    completion_cost_details: details(COMPLETION),
  };
  // clients report `gemini/gemini-2.5-pro` as `gemini-2.5-pro`, some with the provider
  const names = key.includes("/") ? [key, key.slice(key.indexOf("/") + 1)] : [key];
  return names
    .filter((name) => name !== "" && name.length <= 250)
    .map((name) => ({ name, match_pattern: `^${escaped(name)}$`, ...price }));
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);
