import { parseDecimal, formatDecimal } from "../run-rows/decimal.ts";

/** Usage of a model call, as reported by its client (contract §1.9). Costs are exact decimal text. */
export interface Usage {
  prompt_tokens?: number | undefined;
  completion_tokens?: number | undefined;
  total_tokens?: number | undefined;
  prompt_token_details?: Record<string, number> | undefined;
  completion_token_details?: Record<string, number> | undefined;
  prompt_cost?: string | undefined;
  completion_cost?: string | undefined;
  total_cost?: string | undefined;
  prompt_cost_details?: Record<string, string> | undefined;
  completion_cost_details?: Record<string, string> | undefined;
}

type Json = Record<string, unknown>;
const asObject = (value: unknown): Json | undefined =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Json) : undefined;

/**
 * Returns the first of: `outputs.usage_metadata`, `extra.metadata.usage_metadata`, and the outputs of providers and
 * LangChain: `usage`, `llm_output.tokenUsage`, the message of the first generation.
 */
export function findUsage(outputs: unknown, metadata: unknown): Usage | undefined {
  const out = asObject(outputs);
  const llm = asObject(out?.["llm_output"]);
  const candidates = [
    out?.["usage_metadata"],
    asObject(metadata)?.["usage_metadata"],
    out?.["usage"],
    llm?.["tokenUsage"] ?? llm?.["token_usage"] ?? llm?.["usage"],
    usageOfGeneration(out?.["generations"]),
  ];
  for (const candidate of candidates) {
    const usage = readUsage(candidate);
    if (usage) return usage;
  }
  return undefined;
}

/**
 * Reads `generations: [[{message: {kwargs: {usage_metadata}}}]]`, LangChain's serialization of a chat model's response.
 */
function usageOfGeneration(generations: unknown): unknown {
  const first: unknown = Array.isArray(generations) ? (generations as unknown[]).flat()[0] : undefined;
  const message = asObject(asObject(first)?.["message"]);
  return asObject(message?.["kwargs"])?.["usage_metadata"] ?? message?.["usage_metadata"];
}

function readUsage(value: unknown): Usage | undefined {
  const from = asObject(value);
  if (!from) return undefined;
  const pick = (...names: string[]) =>
    tokens(names.map((name) => from[name]).find((value) => tokens(value) !== undefined));
  const prompt = pick("input_tokens", "prompt_tokens", "promptTokens");
  const completion = pick("output_tokens", "completion_tokens", "completionTokens");
  const both = prompt !== undefined && completion !== undefined ? prompt + completion : undefined;
  const usage: Usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: pick("total_tokens", "totalTokens") ?? both ?? prompt ?? completion,
    prompt_token_details: numbers(from["input_token_details"] ?? from["prompt_tokens_details"]),
    completion_token_details: numbers(from["output_token_details"] ?? from["completion_tokens_details"]),
    prompt_cost: cost(from["input_cost"]),
    completion_cost: cost(from["output_cost"]),
    total_cost: cost(from["total_cost"]),
    prompt_cost_details: costs(from["input_cost_details"]),
    completion_cost_details: costs(from["output_cost_details"]),
  };
  if (usage.total_cost === undefined) usage.total_cost = sum(usage.prompt_cost, usage.completion_cost);
  return Object.values(usage).some((value) => value !== undefined) ? usage : undefined;
}

function sum(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined && b === undefined) return undefined;
  return formatDecimal((parseDecimal(a ?? 0) ?? 0n) + (parseDecimal(b ?? 0) ?? 0n));
}

const tokens = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(Math.round(value)) && value >= 0 ? Math.round(value) : undefined;

function numbers(value: unknown): Record<string, number> | undefined {
  const entries = Object.entries(asObject(value) ?? {}).flatMap(([key, entry]) => {
    const count = tokens(entry);
    return count === undefined ? [] : [[key, count] as const];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function cost(value: unknown): string | undefined {
  const parsed = parseDecimal(value);
  return parsed === undefined ? undefined : formatDecimal(parsed);
}

function costs(value: unknown): Record<string, string> | undefined {
  const entries = Object.entries(asObject(value) ?? {}).flatMap(([key, entry]) => {
    const amount = cost(entry);
    return amount === undefined ? [] : [[key, amount] as const];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
