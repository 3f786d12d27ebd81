import { firstAttribute, isObject, parsed } from "./attributes.ts";
import type { Attributes } from "./otel-span.ts";

type Json = Record<string, unknown>;

const INPUT = [
  "gen_ai.usage.prompt_tokens",
  "gen_ai.usage.input_tokens",
  "llm.token_count.prompt",
  "llm.usage.prompt_tokens",
  "ai.usage.promptTokens",
  "ai.usage.inputTokens",
  "ai.usage.tokens",
];
const OUTPUT = [
  "gen_ai.usage.completion_tokens",
  "gen_ai.usage.output_tokens",
  "llm.token_count.completion",
  "llm.usage.completion_tokens",
  "ai.usage.completionTokens",
  "ai.usage.outputTokens",
];
const TOTAL = ["gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total", "ai.usage.totalTokens"];

/** Counts within the input and the output, by the key of `input_token_details` and `output_token_details`. */
const INPUT_DETAILS: Record<string, string[]> = {
  cache_read: [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "gen_ai.usage.details.cached_tokens",
    "llm.token_count.prompt_details.cache_read",
    "ai.usage.cachedInputTokens",
    "ai.usage.inputTokenDetails.cacheReadTokens",
  ],
  cache_creation: [
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "llm.token_count.prompt_details.cache_write",
    "ai.usage.inputTokenDetails.cacheWriteTokens",
  ],
  audio: ["gen_ai.usage.details.input_audio_tokens", "llm.token_count.prompt_details.audio"],
};
const OUTPUT_DETAILS: Record<string, string[]> = {
  reasoning: [
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "gen_ai.usage.details.reasoning_tokens",
    "llm.usage.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
    "ai.usage.reasoningTokens",
    "ai.usage.outputTokenDetails.reasoningTokens",
  ],
  audio: ["gen_ai.usage.details.output_audio_tokens", "llm.token_count.completion_details.audio"],
};

/**
 * Reads the usage of a call, in the form of `usage_metadata` or of the provider.
 * @param sent the span's attributes, for values that stay metadata
 */
export function spanUsage(attributes: Attributes, sent: Attributes): Json | undefined {
  const whole = parsed(attributes["langsmith.usage_metadata"]);
  if (isObject(whole)) return whole;
  const number = (...names: string[]): number | undefined => {
    const value = Number(firstAttribute(attributes, ...names) ?? NaN);
    return Number.isFinite(value) && value >= 0 ? value : undefined;
  };
  const details = (given: string, counts: Record<string, string[]>): Json | undefined => {
    const found = Object.entries(counts).map(([key, names]) => [key, number(...names)]);
    const own = parsed(attributes[given]);
    return nonEmpty({ ...(Object.fromEntries(found) as Json), ...(isObject(own) && own) });
  };
  const counts = { input_tokens: number(...INPUT), output_tokens: number(...OUTPUT), total_tokens: number(...TOTAL) };
  return nonEmpty({
    ...counts,
    ...vercelUsage(sent, counts),
    input_token_details: details("gen_ai.usage.input_token_details", INPUT_DETAILS),
    output_token_details: details("gen_ai.usage.output_token_details", OUTPUT_DETAILS),
    input_cost: number("llm.cost.prompt", "gen_ai.usage.input_cost"),
    output_cost: number("llm.cost.completion", "gen_ai.usage.output_cost"),
    total_cost: number("llm.cost.total", "gen_ai.usage.cost", "operation.cost"),
  });
}

/**
 * The Vercel AI SDK before version 6 passes the provider's counts on, so that Anthropic's and Bedrock's input is without
 * cached tokens, and only the provider's metadata has the written ones.
 */
function vercelUsage(sent: Attributes, { input_tokens, output_tokens }: Json): Json {
  if (Object.keys(sent).some((name) => name.startsWith("ai.usage.inputTokenDetails."))) return {};
  const metadata = parsed(sent["ai.response.providerMetadata"]);
  const { anthropic, bedrock } = isObject(metadata) ? metadata : {};
  if (isObject(anthropic)) {
    if (isObject(anthropic["usage"])) return anthropic["usage"];
    return {
      cache_read_input_tokens: anthropic["cacheReadInputTokens"] ?? undefined,
      cache_creation_input_tokens: anthropic["cacheCreationInputTokens"] ?? undefined,
    };
  }
  if (isObject(bedrock) && isObject(bedrock["usage"])) {
    return { inputTokens: input_tokens, outputTokens: output_tokens, ...bedrock["usage"] };
  }
  const cachedInputTokens = sent["ai.usage.cachedInputTokens"];
  return cachedInputTokens === undefined ? {} : { cachedInputTokens };
}

function nonEmpty(object: Json): Json | undefined {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** Operations whose usage is the sum of the calls within them, so that counting it would count those twice. */
const SUMMING_OPERATIONS = new Set(["invoke_agent", "invoke_workflow", "create_agent", "execute_tool"]);
const SUMMING_KINDS = new Set(["agent", "chain", "workflow", "task", "tool"]);
const CLIENT = 3;

/** Returns true if the span's usage is its own: a model's call, or that of a remote agent, whose calls are not seen. */
export function hasOwnUsage(attributes: Attributes, kind: number): boolean {
  if (attributes["langsmith.usage_metadata"] !== undefined) return true;
  const lower = (name: string) => {
    const value = attributes[name];
    return typeof value === "string" ? value.toLowerCase() : "";
  };
  const vercel = lower("ai.operationId");
  const operation = lower("gen_ai.operation.name");
  if (operation !== "") return kind === CLIENT || !SUMMING_OPERATIONS.has(operation);
  // agents of older versions of Pydantic AI name no operation
  if (operation === "" && attributes["all_messages_events"] !== undefined) return false;
  if (vercel !== "") return /\.do[a-z]+$/.test(vercel);
  return !SUMMING_KINDS.has(lower("openinference.span.kind") || lower("traceloop.span.kind"));
}
