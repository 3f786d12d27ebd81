import { unprocessable } from "../../base/errors.ts";
import type { DownloadedExample } from "./download-sql.ts";

interface ChatMessage {
  role: string;
  content: unknown;
  [key: string]: unknown;
}

/** What LangChain calls the roles of OpenAI's messages. */
const ROLES: Record<string, string> = { human: "user", ai: "assistant", chat: "user" };

/**
 * An example of messages as a line of OpenAI's fine-tuning format: what went in, then what came out. Messages are
 * OpenAI's own (`role`, `content`) or LangChain's (`type`, `data`).
 *
 * @throws 422 that names the example when it holds no messages
 */
export function fineTuningLine(example: DownloadedExample): string {
  const given = messagesOf(example.inputs, ["messages", "input"]);
  const answer = messagesOf(example.outputs ?? {}, ["messages", "output", "message", "generations"]);
  if (given.length === 0 || answer.length === 0) {
    throw unprocessable(`Example ${example.id} does not consist of chat messages.`);
  }
  return `${JSON.stringify({ messages: [...given, ...answer] })}\n`;
}

function messagesOf(values: Record<string, unknown>, keys: string[]): ChatMessage[] {
  const key = keys.find((one) => values[one] !== undefined && values[one] !== null);
  if (key === undefined) return [];
  const messages = [values[key]].flat().map(toOpenAi);
  return messages.every((message) => message !== undefined) ? messages : [];
}

function toOpenAi(given: unknown): ChatMessage | undefined {
  if (given === null || typeof given !== "object") return undefined;
  const message = given as Record<string, unknown>;
  if (typeof message.role === "string" && "content" in message) return message as ChatMessage;
  const data = (message.data ?? message) as Record<string, unknown>;
  if (typeof message.type !== "string" || !("content" in data)) return undefined;
  const role = ROLES[message.type] ?? message.type;
  const more = data.additional_kwargs as Record<string, unknown> | undefined;
  return { role, content: data.content, ...more };
}
