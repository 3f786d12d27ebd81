import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import { asObject, type Counting, readTokens, type ReportedTokens } from "./usage-shapes.ts";

/**
 * Usage of a model call, as reported by its client. Costs are exact decimal text.
 *
 * `prompt_tokens` and `completion_tokens` are all tokens of that side: where the client counts cached tokens beside the
 * input, or reasoning beside the output, they are added.
 */
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
  basis?: CostBasis | undefined;
}

/** How tokens were counted, and where the cost comes from. */
export interface CostBasis {
  /** Whether the client counts cached tokens within the input, and how that was found. Absent without such tokens. */
  cached_tokens?: Counting;
  cached_tokens_by?: Evidence;
  reasoning_tokens?: Counting;
  reasoning_tokens_by?: Evidence;
  /** `client`: reported; `price`: computed; absent: there is no cost. */
  cost?: "client" | "price";
  /** What the cost does not contain, and what was billed otherwise than its category says. */
  notes?: string[];
}

/**
 * `numbers`: the counts allow nothing else. `format`: the provider's response has this meaning. `provider`: this
 * provider counts so. `standard`: usage_metadata is defined so.
 */
type Evidence = "numbers" | "format" | "provider" | "standard";

/**
 * Returns the first of: `outputs.usage_metadata`, `extra.metadata.usage_metadata`, and the outputs of providers and
 * LangChain: `usage`, `llm_output.tokenUsage`, the message of the first generation.
 */
export function findUsage(outputs: unknown, metadata: unknown): Usage | undefined {
  const out = asObject(outputs);
  const llm = asObject(out?.["llm_output"]);
  const known = asObject(metadata);
  const candidates = [
    out?.["usage_metadata"],
    known?.["usage_metadata"],
    out?.["usage"],
    out?.["usageMetadata"],
    llm?.["tokenUsage"] ?? llm?.["token_usage"] ?? llm?.["usage"],
    usageOfGeneration(out?.["generations"]),
    // Ollama reports the counts beside the message
    out?.["prompt_eval_count"] === undefined ? undefined : out,
  ];
  const provider = known?.["ls_provider"];
  for (const candidate of candidates) {
    const usage = readUsage(candidate, typeof provider === "string" ? provider : "");
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

function readUsage(value: unknown, provider: string): Usage | undefined {
  const from = asObject(value);
  if (!from) return undefined;
  const costs: Usage = {
    prompt_cost: cost(from["input_cost"]),
    completion_cost: cost(from["output_cost"]),
    total_cost: cost(from["total_cost"]),
    prompt_cost_details: costDetails(from["input_cost_details"]),
    completion_cost_details: costDetails(from["output_cost_details"]),
  };
  if (costs.total_cost === undefined) costs.total_cost = sum(costs.prompt_cost, costs.completion_cost);
  const usage = { ...countTokens(readTokens(from, provider), provider), ...costs };
  const { basis = {}, ...values } = usage;
  if (Object.values(values).every((value) => value === undefined)) return undefined;
  if (costs.total_cost !== undefined) basis.cost = "client";
  return Object.keys(basis).length > 0 ? { ...values, basis } : values;
}

const GOOGLE = /google|gemini|vertex|gcp/i;

/** Determines what the reported counts include. */
export function countTokens(reported: ReportedTokens, provider: string): Usage {
  const { input, output, total, inputDetails, outputDetails } = reported;
  const cached = sumOf(inputDetails, isCached);
  const reasoning = sumOf(outputDetails, isReasoning);
  const proof = proveCounting(reported, { cached, reasoning }, provider);
  const basis: CostBasis = {};
  if (cached > 0) {
    const [counting, by] = decide(proof.cached, reported.cached, undefined);
    basis.cached_tokens = counting;
    basis.cached_tokens_by = by;
  }
  if (reasoning > 0) {
    const isKnown = total === undefined && /xai|x\.ai|x_ai|grok/i.test(provider);
    const [counting, by] = decide(proof.reasoning, reported.reasoning, isKnown ? "beside" : undefined);
    basis.reasoning_tokens = counting;
    basis.reasoning_tokens_by = by;
  }
  const completion = plus(output, basis.reasoning_tokens === "beside" ? reasoning : 0);
  const counted = plus(input, basis.cached_tokens === "beside" ? cached : 0);
  const rest = total === undefined ? 0 : total - (counted ?? 0) - (completion ?? 0);
  // clients leave out the prompts of tools that Gemini called itself
  const isToolPrompt = rest > 0 && counted !== undefined && completion !== undefined && GOOGLE.test(provider);
  const prompt = plus(counted, isToolPrompt ? rest : 0);
  if (isToolPrompt) basis.notes = [`${rest} tokens of the total are in neither side and count as input`];
  const both = prompt !== undefined && completion !== undefined ? prompt + completion : undefined;
  const wasAdded = prompt !== input || completion !== output;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: (wasAdded ? Math.max(total ?? 0, both ?? 0) || undefined : total) ?? both ?? prompt ?? completion,
    prompt_token_details: nonEmpty(inputDetails),
    completion_token_details: nonEmpty(outputDetails),
    basis,
  };
}

/** Finds what the counts leave no other explanation for. */
function proveCounting(
  { input = 0, output = 0, total, cached: cachedByFormat }: ReportedTokens,
  { cached, reasoning }: { cached: number; reasoning: number },
  provider: string,
): { cached?: Counting; reasoning?: Counting } {
  const isBeside = {
    ...(cached > input && { cached: "beside" as const }),
    ...(reasoning > output && { reasoning: "beside" as const }),
  };
  const gap = total === undefined ? 0 : total - input - output;
  if (gap <= 0) {
    // a total that is the sum of both sides says nothing of parts beside them, but rules out that it includes them
    return isBeside;
  }
  if (gap === cached + reasoning) return { cached: "beside", reasoning: "beside" };
  const explains = { cached: gap === cached, reasoning: gap === reasoning };
  if (explains.cached && !(explains.reasoning && cachedByFormat === "inside")) return { ...isBeside, cached: "beside" };
  // Gemini's total also contains the prompts of its tools
  const isGoogle = reasoning > 0 && gap > reasoning && GOOGLE.test(provider);
  if (explains.reasoning || isGoogle) return { ...isBeside, reasoning: "beside" };
  return isBeside;
}

function decide(
  proven: Counting | undefined,
  format: Counting | undefined,
  known: Counting | undefined,
): [Counting, Evidence] {
  if (proven) return [proven, format === proven ? "format" : "numbers"];
  if (format) return [format, "format"];
  return known ? [known, "provider"] : ["inside", "standard"];
}

const TIER = /^(?:batch|flex|priority)_/;
/** Returns the name of a category without the tier of service, and without the class of size. */
export const plainCategory = (name: string): string => name.replace(TIER, "").replace(/_over_200k$/, "");

const WRITTEN = /^ephemeral_.+_input_tokens$/;
export const isLifetime = (name: string): boolean => WRITTEN.test(plainCategory(name));
const isRead = (name: string): boolean => plainCategory(name) === "cache_read";
const isCreation = (name: string): boolean => plainCategory(name) === "cache_creation";
const isReasoning = (name: string): boolean => plainCategory(name) === "reasoning";
const isCached = (name: string): boolean => isRead(name) || isCreation(name) || isLifetime(name);

/** Sums categories; written tokens that are also reported by lifetime count once. */
function sumOf(details: Record<string, number>, belongs: (name: string) => boolean): number {
  return Object.entries(withoutOverlap(details)).reduce((sum, [name, count]) => sum + (belongs(name) ? count : 0), 0);
}

/**
 * Returns the details with the written tokens that have no lifetime as `cache_creation`: clients report it as the sum of
 * the lifetimes or as a category beside them.
 */
export function withoutOverlap(details: Record<string, number>): Record<string, number> {
  const lifetimes = Object.entries(details).reduce((sum, [name, count]) => sum + (isLifetime(name) ? count : 0), 0);
  if (lifetimes === 0) return details;
  return Object.fromEntries(
    Object.entries(details).map(([name, count]) => [
      name,
      isCreation(name) && count >= lifetimes ? count - lifetimes : count,
    ]),
  );
}

const plus = (count: number | undefined, more: number): number | undefined =>
  more === 0 ? count : (count ?? 0) + more;

const nonEmpty = <T>(object: Record<string, T>): Record<string, T> | undefined =>
  Object.keys(object).length > 0 ? object : undefined;

function sum(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined && b === undefined) return undefined;
  return formatDecimal((parseDecimal(a ?? 0) ?? 0n) + (parseDecimal(b ?? 0) ?? 0n));
}

function cost(value: unknown): string | undefined {
  const parsed = parseDecimal(value);
  return parsed === undefined ? undefined : formatDecimal(parsed);
}

function costDetails(value: unknown): Record<string, string> | undefined {
  const entries = Object.entries(asObject(value) ?? {}).flatMap(([key, entry]) => {
    const amount = cost(entry);
    return amount === undefined ? [] : [[key, amount] as const];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
