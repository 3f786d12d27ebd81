/**
 * Reads the messages of traced calls in the formats of LangChain (serialized, dictionaries), OpenAI (chat completions,
 * responses), Anthropic and Gemini.
 */
import { type ContentBlock, contentBlock, type Message, type ToolCall } from "../models/message-schema.ts";
import { readConstructor } from "./read-manifest.ts";

type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const asString = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const ROLES: Record<string, Message["role"]> = {
  system: "system",
  developer: "system",
  human: "user",
  user: "user",
  ai: "assistant",
  aimessagechunk: "assistant",
  assistant: "assistant",
  model: "assistant",
  tool: "tool",
  function: "tool",
};

/** Reads a list of messages in any of the formats. Notes what cannot be shown. */
export function readMessageList(list: unknown[], notes: Set<string>): Message[] {
  return list.flatMap((item) => {
    if (Array.isArray(item) && item.length === 2) return readMessage({ role: item[0], content: item[1] }, notes);
    return readMessage(item, notes);
  });
}

/** Reads a message; one of Anthropic's with several results of tools becomes several. */
export function readMessage(value: unknown, notes: Set<string>): Message[] {
  if (typeof value === "string") return [{ role: "user", content: value }];
  const serialized = readConstructor(value);
  if (serialized) {
    const role = serialized.name.replace(/Message(Chunk)?$/, "").toLowerCase();
    return readFields(role === "chat" ? serialized.kwargs["role"] : role, serialized.kwargs, notes);
  }
  if (!isObject(value)) return [];
  if (isObject(value["data"]) && typeof value["type"] === "string")
    return readFields(value["type"], value["data"], notes);
  // items of OpenAI's responses
  if (value["type"] === "function_call") {
    return [{ role: "assistant", content: "", tool_calls: [readCall(value)].flatMap((call) => call ?? []) }];
  }
  if (value["type"] === "function_call_output") {
    return [{ role: "tool", content: asText(value["output"]), tool_call_id: asText(value["call_id"]) }];
  }
  const role = value["role"] ?? value["type"];
  return readFields(role, value["parts"] === undefined ? value : { ...value, content: value["parts"] }, notes);
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

function readFields(named: unknown, fields: Json, notes: Set<string>): Message[] {
  const name = asText(named).toLowerCase();
  const role = Object.hasOwn(ROLES, name) ? ROLES[name]! : "user";
  const extra = isObject(fields["additional_kwargs"]) ? fields["additional_kwargs"] : {};
  const own = [fields["tool_calls"], extra["tool_calls"]].find((list) => Array.isArray(list) && list.length > 0);
  const calls = ((own ?? []) as unknown[]).flatMap((call) => readCall(call) ?? []);
  const { blocks, more, results } = readContent(fields["content"], notes);
  const tool_calls = calls.length > 0 ? calls : more;
  if (results.length > 0) {
    const rest: Message[] = isEmpty(blocks) ? [] : [{ role, content: blocks }];
    return [...results, ...rest];
  }
  const callId = asString(fields["tool_call_id"]);
  const author = asString(fields["name"]);
  return [
    {
      role,
      content: blocks,
      ...(tool_calls.length > 0 && { tool_calls }),
      ...(callId !== undefined && { tool_call_id: callId }),
      ...(author !== undefined && { name: author }),
    },
  ];
}

const isEmpty = (content: Message["content"]): boolean => content.length === 0;

/** Reads a call in the formats of LangChain, OpenAI, Anthropic and Gemini. */
function readCall(value: unknown): ToolCall | undefined {
  if (!isObject(value)) return undefined;
  const inner = isObject(value["function"]) ? value["function"] : value;
  const name = asString(inner["name"]);
  if (name === undefined) return undefined;
  const sent = inner["args"] ?? inner["arguments"] ?? inner["input"] ?? {};
  const args = typeof sent === "string" ? parse(sent) : sent;
  const id = asString(value["call_id"]) ?? asString(value["id"]);
  return { ...(id !== undefined && { id }), name, args: isObject(args) ? args : { value: args } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

interface ReadContent {
  blocks: Message["content"];
  more: ToolCall[];
  results: Message[];
}

function readContent(content: unknown, notes: Set<string>): ReadContent {
  const read: ReadContent = { blocks: "", more: [], results: [] };
  if (!Array.isArray(content)) {
    read.blocks = content == null ? "" : asText(content);
    return read;
  }
  const blocks: ContentBlock[] = [];
  for (const item of content as unknown[]) {
    if (typeof item === "string") blocks.push({ type: "text", text: item });
    if (!isObject(item)) continue;
    const type = asText(item["type"] ?? "");
    if (type === "tool_use" || type === "tool_call" || isObject(item["functionCall"])) {
      const call = readCall(item["functionCall"] ?? item);
      if (call) read.more.push(call);
    } else if (type === "tool_result") {
      const { blocks: inner } = readContent(item["content"], notes);
      read.results.push({ role: "tool", content: inner, tool_call_id: asText(item["tool_use_id"]) });
    } else if (isObject(item["functionResponse"])) {
      const { name, response } = item["functionResponse"];
      read.results.push({ role: "tool", content: asText(response), tool_call_id: asText(name), name: asText(name) });
    } else {
      const block = readBlock(type, item);
      if (block) blocks.push(block);
      else if (type !== "") notes.add(`blocks of the type "${type.slice(0, 50)}" were left out`);
    }
  }
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  read.blocks = texts.length === blocks.length && blocks.length <= 1 ? (texts[0] ?? "") : blocks;
  return read;
}

const KINDS: Record<string, "image" | "file" | "audio"> = {
  image: "image",
  image_url: "image",
  input_image: "image",
  media: "file",
  document: "file",
  file: "file",
  input_file: "file",
  audio: "audio",
  input_audio: "audio",
};

const DATA_URL = /^data:([^;,]+)?;base64,/;

function readBlock(type: string, item: Json): ContentBlock | undefined {
  const { text } = item;
  if (typeof text === "string" && (type === "" || /^((input|output)_)?text$/.test(type))) return { type: "text", text };
  const inline = isObject(item["inlineData"]) ? item["inlineData"] : undefined;
  const kind = inline ? mediaKind(inline["mimeType"]) : Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (kind === undefined) return undefined;
  const source = [item["source"], item["image_url"], item["file"], item["input_audio"], inline].find((each) =>
    isObject(each),
  );
  const from: Json = { ...item, ...(source as Json | undefined) };
  const direct = [from["url"], item["image_url"], from["file_data"], from["data"]].find(
    (each) => typeof each === "string",
  );
  if (direct === undefined) return undefined;
  const mime = asString(from["media_type"]) ?? asString(from["mime_type"]) ?? asString(from["mimeType"]);
  const [head = "", named] = DATA_URL.exec(direct as string) ?? [];
  const data = (direct as string).slice(head.length);
  const mime_type = named ?? mime;
  const isUrl = /^https?:/.test(data);
  const filename = asString(from["filename"]);
  const detail =
    asString(from["detail"]) ?? (isObject(from["metadata"]) ? asString(from["metadata"]["detail"]) : undefined);
  const ofImage = kind === "image" && detail !== undefined && { detail };
  const block = isUrl
    ? { type: kind, url: data, ...(mime_type !== undefined && { mime_type }), ...ofImage }
    : { type: kind, data, mime_type, ...(filename !== undefined && { filename }), ...ofImage };
  const read = contentBlock.safeParse(block);
  return read.success ? read.data : undefined;
}

const mediaKind = (mime: unknown): "image" | "file" | "audio" =>
  asText(mime).startsWith("image/") ? "image" : asText(mime).startsWith("audio/") ? "audio" : "file";
