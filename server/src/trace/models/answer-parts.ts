import type { ChatGenerationChunk } from "@langchain/core/outputs";

import type { ToolCall } from "./message-schema.ts";

/** Part of an answer as it arrives. */
export interface Piece {
  text?: string;
  reasoning?: string;
  tool_call?: { index: number; id?: string; name?: string; args_text?: string };
}

interface CallParts {
  id: string | undefined;
  /** Index that the provider gave it. */
  at: number | undefined;
  name: string;
  args: string;
}

/** Most tool calls of an answer. */
const MAX_CALLS = 256;

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * Collects the chunks of an answer. LangChain's own `concat` parses all arguments of tool calls anew for each chunk,
 * and accepts arguments that were cut off.
 */
export class AnswerParts {
  text = "";
  usage: Json | undefined;
  finishReason: string | null = null;
  /** Characters so far. */
  length = 0;
  readonly #calls: CallParts[] = [];
  readonly #answerTool: string | undefined;

  readonly #cumulativeOutput: boolean;

  /**
   * @param answerTool tool whose arguments are the answer's text
   * @param cumulativeOutput whether each count of output tokens includes the earlier ones
   */
  constructor(answerTool: string | undefined, cumulativeOutput: boolean) {
    this.#answerTool = answerTool;
    this.#cumulativeOutput = cumulativeOutput;
  }

  add({ message, generationInfo }: ChatGenerationChunk): Piece[] {
    const chunk = message as typeof message & {
      tool_call_chunks?: { id?: string; index?: number; name?: string; args?: string }[];
      usage_metadata?: Json;
    };
    const pieces: Piece[] = [];
    const { text, reasoning } = readContent(chunk.content, chunk.additional_kwargs);
    if (reasoning !== "") pieces.push({ reasoning });
    if (text !== "") pieces.push({ text });
    this.text += text;
    this.length += text.length + reasoning.length;
    for (const part of chunk.tool_call_chunks ?? []) pieces.push(...this.#addCall(part));
    if (chunk.usage_metadata) this.#addUsage(chunk.usage_metadata);
    this.finishReason ??= findReason(generationInfo) ?? findReason(chunk.response_metadata) ?? null;
    this.finishReason ??= findReason(chunk.additional_kwargs) ?? null;
    return pieces;
  }

  #addUsage(more: Json): void {
    const before = this.usage;
    const sum = addNumbers(before, more);
    if (this.#cumulativeOutput) {
      const output = Math.max(count(before?.["output_tokens"]), count(more["output_tokens"]));
      sum["output_tokens"] = output;
      sum["total_tokens"] = count(sum["input_tokens"]) + output;
    }
    this.usage = sum;
  }

  #addCall({ id, index, name, args }: { id?: string; index?: number; name?: string; args?: string }): Piece[] {
    let at = this.#calls.findLastIndex((call) => call.at === index && (!id || !call.id || call.id === id));
    if (at < 0 || (index === undefined && name)) {
      if (this.#calls.length >= MAX_CALLS) return [];
      at = this.#calls.push({ id: undefined, at: index, name: "", args: "" }) - 1;
    }
    const call = this.#calls[at]!;
    call.id ??= id || undefined;
    // some providers repeat the name
    if (name && call.name === "") call.name = name;
    call.args += args ?? "";
    this.length += args?.length ?? 0;
    if (call.name === this.#answerTool) return args ? [{ text: args }] : [];
    return [{ tool_call: { index: at, ...(id && { id }), ...(name && { name }), ...(args && { args_text: args }) } }];
  }

  /** Returns the complete calls, those with invalid arguments, and the arguments of the tool that is the answer. */
  toolCalls(): {
    calls: (ToolCall & { id: string })[];
    invalid: { id: string | null; name: string; args_text: string }[];
    answer: string | undefined;
  } {
    const calls: (ToolCall & { id: string })[] = [];
    const invalid: { id: string | null; name: string; args_text: string }[] = [];
    let answer: string | undefined;
    for (const [i, { id, name, args }] of this.#calls.entries()) {
      if (name !== "" && name === this.#answerTool) {
        answer ??= args;
        continue;
      }
      const parsed = parseArguments(args);
      if (parsed) calls.push({ id: id ?? `call_${i}`, name, args: parsed });
      else invalid.push({ id: id ?? null, name, args_text: args });
    }
    return { calls, invalid, answer };
  }
}

function parseArguments(text: string): Json | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readContent(content: unknown, more: unknown): { text: string; reasoning: string } {
  const extra = isObject(more) ? more["reasoning_content"] : undefined;
  let reasoning = typeof extra === "string" ? extra : "";
  if (typeof content === "string") return { text: content, reasoning };
  let text = "";
  for (const block of Array.isArray(content) ? (content as unknown[]) : []) {
    if (!isObject(block)) continue;
    if (typeof block["text"] === "string" && block["type"] !== "reasoning") text += block["text"];
    for (const key of ["thinking", "reasoning", "reasoningText"]) {
      const value = block[key];
      if (typeof value === "string") reasoning += value;
      else if (isObject(value) && typeof value["text"] === "string") reasoning += value["text"];
    }
  }
  return { text, reasoning };
}

/** Names of the reason for which an answer ended, in the clients' spellings. */
const REASONS = ["finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason"];

function findReason(info: unknown): string | undefined {
  if (!isObject(info)) return undefined;
  for (const key of REASONS) if (typeof info[key] === "string") return info[key];
  if (isObject(info["messageStop"])) return findReason(info["messageStop"]);
  // the response of OpenAI's responses API, which has no reason when it is complete
  const { status, done } = info;
  if (status === "completed" || done === true) return "stop";
  if (status === "incomplete") {
    const details = info["incomplete_details"];
    return isObject(details) && typeof details["reason"] === "string" ? details["reason"] : "incomplete";
  }
  return undefined;
}

const count = (value: unknown): number => (typeof value === "number" ? value : 0);

/** Adds the counts of a usage, which may be reported in parts. */
function addNumbers(before: Json | undefined, more: Json): Json {
  const sum: Json = { ...before };
  for (const [key, value] of Object.entries(more).slice(0, 50)) {
    const known = sum[key];
    if (typeof value === "number") sum[key] = (typeof known === "number" ? known : 0) + value;
    else if (isObject(value)) sum[key] = addNumbers(isObject(known) ? known : undefined, value);
  }
  return sum;
}
