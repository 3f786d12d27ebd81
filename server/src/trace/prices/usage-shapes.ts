/**
 * Reads the token counts of a model call in the shapes that providers and their clients report, and brings the names of
 * the categories to those that prices have. Counts stay as reported; what they include is decided in usage.ts.
 */

type Json = Record<string, unknown>;

/** Whether the shape itself says that tokens of a category are counted within the reported total or beside it. */
export type Counting = "inside" | "beside";

export interface ReportedTokens {
  input?: number | undefined;
  output?: number | undefined;
  total?: number | undefined;
  inputDetails: Record<string, number>;
  outputDetails: Record<string, number>;
  /** Undefined where the shape does not say. */
  cached?: Counting | undefined;
  reasoning?: Counting | undefined;
}

export const asObject = (value: unknown): Json | undefined =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Json) : undefined;

export const tokens = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(Math.round(value)) && value >= 0 ? Math.round(value) : undefined;

/** Anthropic, OpenAI, Bedrock and Vercel, Gemini in both spellings, Bedrock's metrics, Ollama. */
const INPUT = [
  "input_tokens",
  "prompt_tokens",
  "promptTokens",
  "inputTokens",
  "promptTokenCount",
  "prompt_token_count",
  "inputTokenCount",
  "prompt_eval_count",
];
const OUTPUT = [
  "output_tokens",
  "completion_tokens",
  "completionTokens",
  "outputTokens",
  "candidatesTokenCount",
  "candidates_token_count",
  "responseTokenCount",
  "response_token_count",
  "outputTokenCount",
  "eval_count",
];
const TOTAL = ["total_tokens", "totalTokens", "totalTokenCount", "total_token_count"];

const INPUT_DETAILS = [
  "input_token_details",
  "input_tokens_details",
  "prompt_tokens_details",
  "inputTokenDetails",
  "promptTokensDetails",
];
const OUTPUT_DETAILS = [
  "output_token_details",
  "output_tokens_details",
  "completion_tokens_details",
  "outputTokenDetails",
  "candidatesTokensDetails",
  "candidates_tokens_details",
  "responseTokensDetails",
  "response_tokens_details",
];

/** Categories by the names that details give them. */
const CATEGORIES: Record<string, string> = {
  cached_tokens: "cache_read",
  cache_read_tokens: "cache_read",
  cacheReadTokens: "cache_read",
  cacheRead: "cache_read",
  cache_write_tokens: "cache_creation",
  cache_creation_tokens: "cache_creation",
  cacheWriteTokens: "cache_creation",
  cacheWrite: "cache_creation",
  ephemeral_1hr_input_tokens: "ephemeral_1h_input_tokens",
  audio_tokens: "audio",
  audioTokens: "audio",
  reasoning_tokens: "reasoning",
  reasoningTokens: "reasoning",
};
/** Categories by names beside the totals. */
const CACHE_READ = [
  "cache_read_input_tokens",
  "cacheReadInputTokens",
  "cacheReadInputTokenCount",
  "cachedContentTokenCount",
  "cached_content_token_count",
  "cachedInputTokens",
  "prompt_cache_hit_tokens",
  "num_cached_tokens",
];
const CACHE_CREATION = [
  "cache_creation_input_tokens",
  "cacheWriteInputTokens",
  "cacheCreationInputTokens",
  "cacheWriteInputTokenCount",
];
const REASONING = ["thoughtsTokenCount", "thoughts_token_count", "reasoningTokens", "reasoning_tokens"];
/** Prompts of tools that Gemini called itself; not within the input. */
const TOOL_PROMPTS = ["toolUsePromptTokenCount", "tool_use_prompt_token_count"];

/** Providers that count cached tokens beside the input in their own responses. */
const COUNTS_CACHED_BESIDE = /anthropic|bedrock/i;

/** @param provider as the client names it; decides only where the shape is the same for all */
export function readTokens(from: Json, provider: string): ReportedTokens {
  const pick = (names: readonly string[]): number | undefined =>
    tokens(names.map((name) => from[name]).find((value) => tokens(value) !== undefined));
  const input = pick(INPUT) ?? tokens(asObject(from["inputTokens"])?.["total"]);
  const output = pick(OUTPUT) ?? tokens(asObject(from["outputTokens"])?.["total"]);
  const inputDetails = readDetails([...INPUT_DETAILS.map((name) => from[name]), asObject(from["inputTokens"])]);
  const outputDetails = readDetails([...OUTPUT_DETAILS.map((name) => from[name]), asObject(from["outputTokens"])]);
  // the parts of the total that are priced like it
  for (const name of ["total", "noCache", "text"]) {
    delete inputDetails[name];
    delete outputDetails[name];
  }
  const [read, creation, reasoning] = [pick(CACHE_READ), pick(CACHE_CREATION), pick(REASONING)];
  if (read !== undefined) inputDetails["cache_read"] ??= read;
  if (creation !== undefined) inputDetails["cache_creation"] ??= creation;
  for (const [name, count] of Object.entries(readLifetimes(from))) inputDetails[name] ??= count;
  if (reasoning !== undefined) outputDetails["reasoning"] ??= reasoning;
  const toolPrompts = pick(TOOL_PROMPTS);
  return {
    input: toolPrompts === undefined ? input : (input ?? 0) + toolPrompts,
    output,
    total: pick(TOTAL),
    inputDetails,
    outputDetails,
    cached: countingOfCache(from, provider),
    reasoning: pick(["thoughtsTokenCount", "thoughts_token_count"]) === undefined ? undefined : "beside",
  };
}

/** Anthropic's split of written tokens by how long they are kept, and Bedrock's. */
function readLifetimes(from: Json): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [name, value] of Object.entries(asObject(from["cache_creation"]) ?? {})) {
    const count = tokens(value);
    if (count !== undefined) found[CATEGORIES[name] ?? name] = count;
  }
  const list: unknown = from["cacheDetails"];
  for (const entry of Array.isArray(list) ? (list as unknown[]) : []) {
    const { ttl, inputTokens } = asObject(entry) ?? {};
    const count = tokens(inputTokens);
    if (typeof ttl === "string" && count !== undefined) found[`ephemeral_${ttl}_input_tokens`] = count;
  }
  return found;
}

/**
 * Anthropic and Bedrock report cached tokens beside `input_tokens`. Gateways that add Anthropic's names to OpenAI's
 * shape report them within `prompt_tokens`.
 */
function countingOfCache(from: Json, provider: string): Counting | undefined {
  const has = (...names: string[]) => names.some((name) => tokens(from[name]) !== undefined);
  const isAnthropic = has("cache_read_input_tokens", "cache_creation_input_tokens");
  if (isAnthropic) return has("input_tokens") && !has("prompt_tokens") ? "beside" : undefined;
  const isBedrock = has(
    "cacheReadInputTokens",
    "cacheWriteInputTokens",
    "cacheReadInputTokenCount",
    "cacheWriteInputTokenCount",
  );
  if (isBedrock && has("inputTokens", "inputTokenCount")) return "beside";
  // the Vercel AI SDK before version 6 passes the provider's counts on
  if (has("cachedInputTokens") && asObject(from["inputTokenDetails"]) === undefined) {
    return COUNTS_CACHED_BESIDE.test(provider) ? "beside" : "inside";
  }
  return has(...CACHE_READ) || ["prompt_tokens_details", "input_tokens_details"].some((name) => asObject(from[name]))
    ? "inside"
    : undefined;
}

function readDetails(containers: readonly unknown[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const container of containers) {
    // Gemini: a list by modality
    for (const entry of Array.isArray(container) ? (container as unknown[]) : []) {
      const { modality, tokenCount, token_count: snakeCount } = asObject(entry) ?? {};
      const count = tokens(tokenCount) ?? tokens(snakeCount);
      if (typeof modality === "string" && modality.toUpperCase() === "AUDIO" && count !== undefined)
        found["audio"] = (found["audio"] ?? 0) + count;
    }
    for (const [name, value] of Object.entries(asObject(container) ?? {})) {
      const count = tokens(value);
      if (count !== undefined) found[CATEGORIES[name] ?? name] = count;
    }
  }
  return found;
}
