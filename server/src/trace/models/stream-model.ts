/**
 * One call to a model: creates the provider's model on a guarded `fetch`, streams its answer as pieces, and returns the
 * whole answer. Output is bounded; ending the generator early aborts the request to the provider.
 */
import { Validator } from "@cfworker/json-schema";
import type { BaseMessage } from "@langchain/core/messages";

import { unprocessable } from "../../base/errors.ts";
import { createStreamFetch } from "../../base/outbound/stream-fetch.ts";
import type { TraceDeps } from "../deps.ts";
import { ADAPTERS } from "./adapters.ts";
import { AnswerParts, type Piece } from "./answer-parts.ts";
import type { CallOptions, ChatModel } from "./chat-model.ts";
import type { ReadyConnection } from "./resolve-connection.ts";
import { guardHeaders } from "./guard-headers.ts";
import type { Message, Tool, ToolCall } from "./message-schema.ts";
import { IncompleteResponse, ProviderFailure } from "./model-error.ts";
import { toLangChain } from "./to-langchain.ts";

export interface ModelRequest {
  connection: ReadyConnection;
  messages: Message[];
  tools: Tool[];
  toolChoice?: string | undefined;
  parallelToolCalls?: boolean | undefined;
  responseSchema?: Record<string, unknown> | undefined;
}

export interface InvalidToolCall {
  id: string | null;
  name: string;
  args_text: string;
}

export interface ModelAnswer {
  content: string;
  tool_calls: (ToolCall & { id: string })[];
  /** Tool calls whose arguments are not a JSON object. */
  invalid_tool_calls: InvalidToolCall[];
  structured: unknown;
  structured_error: string | null;
  /** Usage as LangChain reports it; undefined when the provider sent none. */
  usage: Record<string, unknown> | undefined;
  finish_reason: string | null;
  /** Whether the answer was cut off at the limit of its size. */
  truncated: boolean;
}

/** Waits of the transport in milliseconds, and bytes of a response. */
const LIMITS = { headersMs: 120_000, bodyMs: 60_000, maxBytes: 64 * 1024 * 1024 };
/** Characters of an answer. */
const MAX_OUTPUT = 2 * 1024 * 1024;

/** Converts the messages of a request. @throws 422 for content that the provider cannot be sent */
export const convertMessages = ({ connection: { provider }, messages }: ModelRequest): Promise<BaseMessage[]> =>
  toLangChain(messages, ADAPTERS[provider.id].toBlock);

/**
 * @param messages those of the request, converted
 * @throws AppError for a request that cannot be sent; OutboundError, IncompleteResponse and errors of the provider's
 *   client for a failed call (`describeFailure`)
 */
export async function* streamModel(
  { outbound }: Pick<TraceDeps, "outbound">,
  request: ModelRequest,
  messages: BaseMessage[],
  signal: AbortSignal,
): AsyncGenerator<Piece, ModelAnswer> {
  const { connection } = request;
  const { provider, settings, secrets } = connection;
  const adapter = ADAPTERS[provider.id];
  const ended = new AbortController();
  const whole = AbortSignal.any([signal, ended.signal]);
  let failed: Response | undefined;
  let isSent = false;
  const guarded = createStreamFetch(outbound, {
    limits: LIMITS,
    signal: whole,
    origins: new Set([new URL(adapter.baseUrl(settings)).origin]),
    filterHeaders: guardHeaders(Object.values(secrets)),
  });
  const fetch: typeof globalThis.fetch = async (input, init) => {
    isSent = true;
    const response = await guarded(input, init);
    failed = response.ok ? undefined : response;
    return response;
  };
  const { model, parameters } = connection;
  const plan = planCall(request);
  const chat = await adapter.create({ model, parameters, settings, secrets, fetch });
  const { bound, options } = bindTools(chat, plan);
  const parts = new AnswerParts(plan.answerTool, adapter.cumulativeOutput ?? false);
  try {
    const stop = parameters["stop"] as string[] | undefined;
    const all = { ...options, ...plan.options, signal: whole, ...(stop && { stop }) };
    for await (const chunk of bound._streamResponseChunks(messages, all)) {
      for (const piece of parts.add(chunk)) yield piece;
      if (parts.length > MAX_OUTPUT) return finish(request, parts, true);
    }
    // some clients end their stream when they are aborted
    whole.throwIfAborted();
    if (parts.finishReason === null) throw new IncompleteResponse("the response ended before it was complete");
    return finish(request, parts, false);
  } catch (error) {
    if (isSent) throw failed ? new ProviderFailure(error, failed) : error;
    // the client rejected the request itself
    throw unprocessable((error as Error).message);
  } finally {
    ended.abort(new Error("the call has ended"));
  }
}

interface CallPlan {
  tools: object[];
  choice: unknown;
  options: CallOptions;
  /** Tool whose arguments are the structured answer. */
  answerTool: string | undefined;
}

function planCall({ connection, tools, toolChoice, parallelToolCalls, responseSchema }: ModelRequest): CallPlan {
  const adapter = ADAPTERS[connection.provider.id];
  const options: CallOptions = {};
  const functions = tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
  let choice = toolChoice;
  let answerTool: string | undefined;
  if (responseSchema) {
    const name = schemaName(responseSchema);
    if (adapter.structured) Object.assign(options, adapter.structured(responseSchema, name));
    else {
      answerTool = name;
      const description = asText(responseSchema["description"]) ?? "Gives the answer. Call this to answer.";
      choice = functions.length === 0 ? name : "any";
      functions.push({ type: "function", function: { name, description, parameters: responseSchema } });
    }
  }
  if (parallelToolCalls !== undefined && functions.length > 0) options["parallel_tool_calls"] = parallelToolCalls;
  const wanted = functions.length === 0 || choice === undefined ? undefined : (adapter.toolChoice?.(choice) ?? choice);
  return { tools: functions, choice: wanted, options, answerTool };
}

const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Returns a name that every provider accepts. */
const schemaName = (schema: Record<string, unknown>): string =>
  (asText(schema["title"]) ?? "answer").replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "answer";

/** Binds tools as the model wants them. @returns the model to call, and the options that the binding adds */
function bindTools(chat: ChatModel, { tools, choice }: CallPlan): { bound: ChatModel; options: CallOptions } {
  if (tools.length === 0 || !chat.bindTools) return { bound: chat, options: {} };
  const binding = chat.bindTools(tools, choice === undefined ? {} : { tool_choice: choice }) as {
    bound?: ChatModel;
    config?: CallOptions;
    kwargs?: CallOptions;
  };
  if (!binding.bound) return { bound: binding as ChatModel, options: {} };
  return { bound: binding.bound, options: { ...binding.config, ...binding.kwargs } };
}

function finish({ responseSchema }: ModelRequest, parts: AnswerParts, truncated: boolean): ModelAnswer {
  const { calls, invalid, answer } = parts.toolCalls();
  const found = responseSchema ? readStructured(responseSchema, answer ?? parts.text) : undefined;
  return {
    content: parts.text === "" && answer !== undefined ? answer : parts.text,
    tool_calls: calls,
    invalid_tool_calls: invalid,
    structured: found?.value ?? null,
    structured_error: found?.error ?? null,
    usage: parts.usage,
    finish_reason: parts.finishReason,
    truncated,
  };
}

/** Parses and validates a structured answer. */
function readStructured(schema: Record<string, unknown>, text: string): { value: unknown; error: string | null } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { value: null, error: "The answer is not JSON." };
  }
  try {
    const { valid, errors } = new Validator(schema, "2020-12").validate(value);
    if (valid) return { value, error: null };
    const [first] = errors.slice(-1);
    return { value, error: `The answer does not match the schema: ${first?.instanceLocation} ${first?.error}` };
  } catch (error) {
    return { value, error: `The schema cannot be checked: ${(error as Error).message.slice(0, 200)}` };
  }
}
