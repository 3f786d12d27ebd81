/** Turns the LLM call of a trace, as `GET /playground/from-run/{id}` normalizes it, into a prompt of the editor. */
import { newId } from "../../ui/new-id.ts";
import {
  asText,
  type DraftMessage,
  isObject,
  newMessage,
  newPrompt,
  type Part,
  type Prompt,
  textParts,
} from "./prompt.ts";
import { readToolCalls, readTools } from "./read-manifest.ts";
import { chooseFormat, escapeText, type TemplateFormat } from "./template.ts";

export interface PlayedMessage {
  role: string;
  content?: unknown;
  tool_calls?: unknown;
  tool_call_id?: string | null;
  name?: string | null;
}

export interface PlayedRun {
  messages: PlayedMessage[];
  tools?: unknown[] | null;
  tool_choice?: unknown;
  response_schema?: unknown;
}

const ROLES: Record<string, DraftMessage["role"]> = {
  system: "system",
  developer: "system",
  user: "human",
  human: "human",
  assistant: "ai",
  ai: "ai",
  tool: "tool",
};

/** Returns a prompt that renders to the same messages: braces of the trace are literal text in it. */
export function readRun({ messages, tools, tool_choice: choice, response_schema: schema }: PlayedRun): Prompt {
  const read = messages.map(readPlayedMessage);
  const format = chooseFormat(read.filter(({ isTemplate }) => isTemplate).flatMap(({ content }) => textParts(content)));
  return {
    ...newPrompt(),
    key: newId(),
    format,
    messages: read.map((message) => escapeMessage(message, format)),
    ...readTools(tools, choice),
    schema: isObject(schema) ? JSON.stringify(schema, null, 2) : "",
  };
}

/** Reads a message whose text is literal. */
export function readPlayedMessage({ role, content, name, ...more }: PlayedMessage): DraftMessage {
  const toolCalls = readToolCalls(more.tool_calls);
  const known = ROLES[role];
  return {
    ...newMessage(known ?? "chat", readBlocks(content)),
    isTemplate: known !== "tool" && toolCalls.length === 0,
    toolCalls,
    toolCallId: more.tool_call_id ?? "",
    name: known === undefined ? role : (name ?? ""),
  };
}

function readBlocks(content: unknown): string | Part[] {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((block: unknown) => (isObject(block) ? readBlock(block) : { type: "text", text: String(block) }));
}

/** Writes images as OpenAI's blocks and other media as LangChain's standard blocks, which manifests can hold. */
function readBlock(block: Part): Part {
  const { type, data, url, mime_type: mimeType, ...more } = block;
  if (type !== "image" && type !== "file" && type !== "audio") return block;
  if (type === "image" && (typeof url === "string" || typeof data === "string")) {
    const address = typeof url === "string" ? url : `data:${asText(mimeType) || "image/png"};base64,${asText(data)}`;
    const { detail } = more;
    return { type: "image_url", image_url: { url: address, ...(typeof detail === "string" && { detail }) } };
  }
  if (typeof data === "string") return { type, source_type: "base64", mime_type: mimeType, data, ...more };
  return typeof url === "string" ? { type, source_type: "url", url, ...more } : block;
}

/** Returns a block for an uploaded file. @param url `data:` URL of its content */
export function mediaBlock(url: string, filename: string): Part {
  const [, mimeType = "application/octet-stream", data = ""] = /^data:([^;,]*)[^,]*,(.*)$/s.exec(url) ?? [];
  if (mimeType.startsWith("image/")) return { type: "image_url", image_url: { url } };
  const type = mimeType.startsWith("audio/") ? "audio" : "file";
  return { type, source_type: "base64", mime_type: mimeType, data, filename };
}

/** Escapes the braces of a literal message, so that it renders to itself. */
export function escapeMessage(message: DraftMessage, format: TemplateFormat): DraftMessage {
  if (!message.isTemplate) return message;
  return { ...message, content: mapTexts(message.content, (text) => escapeText(text, format)) };
}

/** Replaces each text of a message, except `data:` URLs. */
export function mapTexts(content: string | Part[], change: (text: string) => string): string | Part[] {
  return typeof content === "string" ? change(content) : content.map((part) => mapValue(part, change) as Part);
}

function mapValue(value: unknown, change: (text: string) => string, key = ""): unknown {
  if (typeof value === "string") {
    const isData = value.startsWith("data:") || key === "type" || key === "data" || key === "mime_type";
    return isData ? value : change(value);
  }
  if (Array.isArray(value)) return value.map((entry) => mapValue(entry, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, mapValue(entry, change, name)]));
}
