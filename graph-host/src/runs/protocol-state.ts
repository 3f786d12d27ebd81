/**
 * States as protocol v2 sends them: messages have few fields, media blocks snake case,
 * interrupts are not part of the state. Works on plain JSON values, see `toPlain`.
 */
type Fields = Record<string, unknown>;

const ROLES: Record<string, string> = { user: "human", assistant: "ai" };
const MESSAGES = new Set(["human", "ai", "system", "tool", "function", "remove"]);
const BLOCKS = new Set([
  ...["text", "reasoning", "tool_call", "tool_call_chunk", "invalid_tool_call", "non_standard"],
  ...["server_tool_call", "server_tool_call_chunk", "server_tool_call_result", "image", "audio", "video", "file"],
]);

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function protocolState(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(protocolState);
  if (!isFields(value)) return value;
  if (isMessage(value)) return protocolMessage(value);
  const fields: Fields = {};
  for (const [key, field] of Object.entries(value)) {
    if (key !== "__interrupt__") fields[key] = protocolState(field);
  }
  return fields;
}

const messageRole = (type: unknown): string => (typeof type === "string" ? (ROLES[type] ?? type) : "");

/** True for messages. A content block also has a type, but not one of these, and has no content field. */
const isMessage = (value: Fields): boolean => "content" in value && MESSAGES.has(messageRole(value["type"]));

function protocolMessage(source: Fields): Fields {
  const type = messageRole(source["type"]);
  const message: Fields = { type, content: protocolContent(source["content"]) };
  const keep = (key: string, isKept: boolean) => {
    if (isKept) message[key] = source[key];
  };
  keep("id", typeof source["id"] === "string");
  keep("name", typeof source["name"] === "string");
  const metadata = source["response_metadata"];
  keep("response_metadata", isFields(metadata) && Object.keys(metadata).length > 0);
  if (type === "ai" || type === "human") keep("example", typeof source["example"] === "boolean");
  if (type === "tool") {
    keep("tool_call_id", typeof source["tool_call_id"] === "string");
    keep("status", source["status"] === "success" || source["status"] === "error");
    keep("artifact", source["artifact"] !== undefined);
  }
  if (type === "ai") {
    const { calls, broken } = toolCalls(source);
    if (calls.length > 0) message["tool_calls"] = calls;
    if (broken.length > 0) message["invalid_tool_calls"] = broken;
  }
  return message;
}

const fieldsList = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/**
 * Returns the tool calls of the message itself, or those in the provider's format that some integrations leave in
 * `additional_kwargs`.
 */
function toolCalls(message: Fields): { calls: Fields[]; broken: Fields[] } {
  const own = fieldsList(message["tool_calls"]);
  const more = message["additional_kwargs"];
  const rawCalls = own.length > 0 ? own : fieldsList(isFields(more) ? more["tool_calls"] : undefined);
  const calls: Fields[] = [];
  const broken: Fields[] = [];
  for (const call of rawCalls) {
    const functionCall = isFields(call["function"]) ? call["function"] : {};
    const id = typeof call["id"] === "string" ? { id: call["id"] } : {};
    const name = call["name"] ?? functionCall["name"];
    const args = parseArgs("args" in call ? call["args"] : functionCall["arguments"]);
    if (typeof name !== "string") broken.push(brokenCall({ ...id }, "Incomplete tool call."));
    else if (args === undefined) broken.push(brokenCall({ ...id, name }, "Malformed args."));
    else calls.push({ ...id, name, args, type: "tool_call" });
  }
  const invalidCalls = fieldsList(message["invalid_tool_calls"]);
  if (invalidCalls.length === 0) return { calls, broken };
  return { calls, broken: invalidCalls.map(({ id, name, args, error }) => brokenCall({ id, name, args }, error)) };
}

function brokenCall(fields: Fields, error: unknown): Fields {
  const known = Object.entries(fields).filter(([, value]) => typeof value === "string");
  const reason = typeof error === "string" ? error : "Malformed args.";
  return { ...Object.fromEntries(known), error: reason, type: "invalid_tool_call" };
}

/** Returns the arguments as an object; undefined for anything but a JSON object. */
function parseArgs(args: unknown): unknown {
  if (args === undefined || args === null || args === "") return {};
  if (typeof args !== "string") return args;
  try {
    return JSON.parse(args);
  } catch {
    return undefined;
  }
}

function protocolContent(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((block) => (typeof block === "string" ? { type: "text", text: block } : protocolBlock(block)));
}

function protocolBlock(block: unknown): unknown {
  if (!isFields(block) || typeof block["type"] !== "string") return block;
  const { type, mimeType, ...rest } = block;
  if (BLOCKS.has(type as string)) {
    const mime = typeof mimeType === "string" && !("mime_type" in rest) ? { mime_type: mimeType } : {};
    return { type, ...rest, ...mime };
  }
  if (type === "image_url") {
    const image = rest["image_url"];
    return { type: "image", url: isFields(image) ? image["url"] : image };
  }
  if (type === "input_audio" && isFields(rest["input_audio"])) {
    return { type: "audio", ...(rest["input_audio"] as { data?: string }) };
  }
  return { type: "non_standard", value: block };
}
