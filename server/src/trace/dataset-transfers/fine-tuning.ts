import { unprocessable } from "../../base/errors.ts";
import type { DownloadedExample } from "./sql.ts";

interface ChatMessage {
  role: string;
  content: unknown;
  [key: string]: unknown;
}

const INPUT_KEYS = ["messages", "input"];
const OUTPUT_KEYS = ["messages", "output", "message", "generations"];

/** OpenAI message roles by LangChain message type. */
const ROLES: Record<string, string> = { human: "user", ai: "assistant", chat: "user" };

/**
 * Formats an example as a line of OpenAI's fine-tuning format: input messages, then output messages. Messages are in
 * the format of OpenAI (`role`, `content`) or LangChain (`type`, `data`).
 *
 * @throws 422 naming the example when it contains no messages
 */
export function fineTuningLine(example: DownloadedExample): string {
  const prompt = readMessages(example.inputs, INPUT_KEYS);
  const reply = readMessages(example.outputs ?? {}, OUTPUT_KEYS);
  if (prompt.length === 0 || reply.length === 0) {
    throw unprocessable(`Example ${example.id} does not consist of chat messages.`);
  }
  return `${JSON.stringify({ messages: [...prompt, ...reply] })}\n`;
}

/**
 * Formats an example as a line of OpenAI's Evals format: the input messages and the ideal output. A single text counts
 * as a user message, or as an answer.
 *
 * @throws 422 naming the example when it contains neither
 */
export function evalsLine(example: DownloadedExample): string {
  const input = readMessages(example.inputs, INPUT_KEYS);
  const question = onlyText(example.inputs);
  if (input.length === 0 && question !== undefined) input.push({ role: "user", content: question });
  const outputs = example.outputs ?? {};
  const ideal = readMessages(outputs, OUTPUT_KEYS).at(-1)?.content ?? onlyText(outputs);
  if (input.length === 0 || ideal === undefined) {
    throw unprocessable(`Example ${example.id} must be chat messages, or a text with its answer.`);
  }
  return `${JSON.stringify({ input, ideal })}\n`;
}

function onlyText(values: Record<string, unknown>): string | undefined {
  const [only, another] = Object.values(values);
  return typeof only === "string" && another === undefined ? only : undefined;
}

function readMessages(values: Record<string, unknown>, keys: string[]): ChatMessage[] {
  const key = keys.find((name) => values[name] !== undefined && values[name] !== null);
  if (key === undefined) return [];
  const messages = [values[key]].flat().map(toOpenAi);
  return messages.every((message) => message !== undefined) ? messages : [];
}

function toOpenAi(source: unknown): ChatMessage | undefined {
  if (source === null || typeof source !== "object") return undefined;
  const message = source as Record<string, unknown>;
  if (typeof message.role === "string" && "content" in message) return message as ChatMessage;
  const data = (message.data ?? message) as Record<string, unknown>;
  if (typeof message.type !== "string" || !("content" in data)) return undefined;
  const role = ROLES[message.type] ?? message.type;
  const more = data.additional_kwargs as Record<string, unknown> | undefined;
  return { role, content: data.content, ...more };
}
