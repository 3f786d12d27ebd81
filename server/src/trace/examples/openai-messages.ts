/** Converts messages and tools of LangChain (serialized and as dictionaries) and Anthropic to the formats of OpenAI. */

type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const ROLES: Record<string, string> = {
  system: "system",
  developer: "system",
  human: "user",
  user: "user",
  ai: "assistant",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Name of the class of a serialized message, as a type: `AIMessageChunk` is `ai`. */
const classType = (id: unknown): string =>
  String(Array.isArray(id) ? id.at(-1) : "")
    .replace(/Message(Chunk)?$/, "")
    .toLowerCase();

/** Converts a message; undefined for a value that is none. */
export function toOpenAiMessage(value: unknown): Json | undefined {
  if (Array.isArray(value) && value.length === 2 && typeof value[0] === "string") {
    return toOpenAiMessage({ role: value[0], content: value[1] as unknown });
  }
  if (!isObject(value)) return undefined;
  if (value["lc"] === 1 && isObject(value["kwargs"])) return build(classType(value["id"]), value["kwargs"]);
  if (isObject(value["data"]) && typeof value["type"] === "string") return build(value["type"], value["data"]);
  const named = value["role"] ?? value["type"];
  if (typeof named !== "string" || !("content" in value)) return undefined;
  return build(named, value);
}

function build(named: string, fields: Json): Json | undefined {
  const type = named.toLowerCase().replace(/message(chunk)?$/, "");
  const role =
    type === "chat" ? (text(fields["role"]) ?? "user") : Object.hasOwn(ROLES, type) ? ROLES[type]! : undefined;
  if (role === undefined) return undefined;
  const extra = isObject(fields["additional_kwargs"]) ? fields["additional_kwargs"] : {};
  const given = [fields["tool_calls"], extra["tool_calls"]].find((list) => Array.isArray(list) && list.length > 0);
  const calls = ((given ?? []) as unknown[]).flatMap((call) => toOpenAiCall(call) ?? []);
  const { tool_call_id: callId, name } = fields;
  return {
    role,
    content: fields["content"] ?? null,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(typeof callId === "string" && { tool_call_id: callId }),
    ...(typeof name === "string" && name !== "" && { name }),
  };
}

function toOpenAiCall(call: unknown): Json | undefined {
  if (!isObject(call)) return undefined;
  const inner = isObject(call["function"]) ? call["function"] : call;
  if (typeof inner["name"] !== "string") return undefined;
  const args = inner["arguments"] ?? inner["args"] ?? {};
  const id = call["id"];
  return {
    ...(typeof id === "string" && { id }),
    type: "function",
    function: { name: inner["name"], arguments: typeof args === "string" ? args : JSON.stringify(args) },
  };
}

/** Converts a tool's definition; undefined for a value that is none. */
export function toOpenAiTool(value: unknown): Json | undefined {
  if (!isObject(value)) return undefined;
  if (value["type"] === "function" && isObject(value["function"])) return value;
  const fields = isObject(value["kwargs"]) ? value["kwargs"] : value;
  const { name, description } = fields;
  if (typeof name !== "string") return undefined;
  const schema = [fields["parameters"], fields["input_schema"], fields["args_schema"], fields["schema"]].find(isObject);
  return {
    type: "function",
    function: {
      name,
      ...(typeof description === "string" && { description }),
      parameters: schema ?? { type: "object", properties: isObject(fields["args"]) ? fields["args"] : {} },
    },
  };
}
