/**
 * Messages as they occur in states, streams and traces: LangChain's flat format, its constructor format (`lc: 1`),
 * OpenAI's `{role, content}`, pairs of role and text, and bare text.
 */
export interface ToolCall {
  id?: string | null;
  name: string;
  args: unknown;
  /** Reason why the arguments could not be parsed. */
  error?: string | null;
}

export interface Message {
  id?: string | undefined;
  role: "user" | "assistant" | "system" | "tool" | "other";
  /** Original type: `human`, `developer`, `function` … */
  type: string;
  name?: string | undefined;
  content: unknown;
  toolCalls: ToolCall[];
  /** In a tool's result: id of its call. */
  toolCallId?: string | undefined;
  isError: boolean;
  reasoning?: string | undefined;
  usage?: { input_tokens?: number; output_tokens?: number; total_tokens?: number } | undefined;
  /** Original value. */
  raw: unknown;
}

const ROLES: Record<string, Message["role"]> = {
  human: "user",
  user: "user",
  ai: "assistant",
  assistant: "assistant",
  model: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "tool",
};
const CLASSES = /^(Human|AI|System|Tool|Function|Chat|Remove)Message(Chunk)?$/;

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Parses a message; null for anything else. */
export function asMessage(value: unknown): Message | null {
  if (Array.isArray(value)) {
    const [role, content, ...more] = value as unknown[];
    if (more.length > 0 || typeof role !== "string" || !(role in ROLES)) return null;
    return asMessage({ type: role, content });
  }
  if (!isObject(value)) return null;
  if (value["lc"] === 1 && isObject(value["kwargs"]) && Array.isArray(value["id"])) {
    const messageClass = CLASSES.exec(String(value["id"].at(-1)))?.[1];
    return messageClass === undefined ? null : asMessage({ ...value["kwargs"], type: messageClass.toLowerCase() });
  }
  if (isObject(value["data"]) && typeof value["type"] === "string" && "content" in value["data"]) {
    return asMessage({ ...value["data"], type: value["type"] });
  }
  const type = value["role"] ?? value["type"];
  if (typeof type !== "string" || !("content" in value || "tool_calls" in value)) return null;
  const known = ROLES[type.toLowerCase()];
  if (known === undefined && !("id" in value) && value["role"] === undefined) return null;
  const extra = isObject(value["additional_kwargs"]) ? value["additional_kwargs"] : {};
  const usage = value["usage_metadata"];
  return {
    id: text(value["id"]),
    role: known ?? "other",
    type,
    name: text(value["name"]),
    content: value["content"] ?? "",
    toolCalls: readToolCalls(value, extra),
    toolCallId: text(value["tool_call_id"]),
    isError: value["status"] === "error",
    reasoning: text(extra["reasoning_content"]) ?? text(value["reasoning_content"]),
    usage: isObject(usage) ? usage : undefined,
    raw: value,
  };
}

/** Parses a list; null when it is empty or any item is not a message. */
export function asMessages(value: unknown): Message[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const messages = value.map(asMessage);
  return messages.every((message) => message !== null) ? messages : null;
}

function readToolCalls(value: Fields, extra: Fields): ToolCall[] {
  const calls = [value["tool_calls"], value["invalid_tool_calls"], extra["tool_calls"]];
  const [valid, invalid, legacy] = calls.map((list) => (Array.isArray(list) ? list.filter(isObject) : []));
  const entries = valid!.length > 0 || invalid!.length > 0 ? [...valid!, ...invalid!] : legacy!;
  // a partially streamed call is an invalid one without a name
  return entries.flatMap((call) => {
    const inner = isObject(call["function"]) ? call["function"] : call;
    const name = text(inner["name"]);
    if (name === undefined) return [];
    const args = inner["args"] ?? inner["arguments"];
    return [{ id: text(call["id"]) ?? null, name, args: readArguments(args), error: text(call["error"]) ?? null }];
  });
}

function readArguments(args: unknown): unknown {
  if (typeof args !== "string") return args ?? {};
  try {
    return JSON.parse(args) as unknown;
  } catch {
    return args;
  }
}

/** Returns the text parts of a message, for screen readers. */
export function messageText({ content }: Pick<Message, "content">): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => (typeof part === "string" ? part : isObject(part) ? (text(part["text"]) ?? "") : ""))
    .join("");
}
