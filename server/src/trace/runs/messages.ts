/**
 * Extracts messages from a run's inputs and outputs. Chat models and agents use few formats: `messages` (LangChain
 * nests it once more, one list per prompt), `choices[].message` of OpenAI's API, `generations[][].message` of
 * LangChain's, or the message itself as the output.
 */
export type Message = Record<string, unknown>;

type Json = string | null | undefined;

export const inputMessages = (inputs: Json): Message[] => {
  const value = parse(inputs);
  return messageList(value?.["messages"]) ?? messageList(value?.["input"]) ?? [];
};

export function outputMessages(outputs: Json): Message[] {
  const value = parse(outputs);
  if (!value) return [];
  const lists = [
    value["messages"],
    value["output"],
    messagesWithin(value["choices"]),
    messagesWithin(value["generations"]),
  ];
  for (const list of lists) {
    const found = messageList(list);
    if (found) return found;
  }
  return isMessage(value) ? [value] : [];
}

/**
 * Returns all messages, in order. If the output repeats the input messages, as a returned state does, they are listed
 * once.
 */
export function conversation(inputs: Json, outputs: Json): Message[] | null {
  const [before, after] = [inputMessages(inputs), outputMessages(outputs)];
  if (before.length === 0 && after.length === 0) return null;
  const isSame = (message: Message, other: Message | undefined) => JSON.stringify(message) === JSON.stringify(other);
  return before.every((message, i) => isSame(message, after[i])) ? after : [...before, ...after];
}

/** Returns the role, as a LangChain message type: human, ai, system, tool. */
export function messageRole(message: Message): string {
  const kwargs = message["kwargs"] as Message | undefined;
  const id = message["id"];
  const className = Array.isArray(id) ? String(id.at(-1)) : "";
  const sentRole = message["role"] ?? kwargs?.["type"] ?? message["type"];
  const role = typeof sentRole === "string" ? sentRole : "";
  const name = (role === "constructor" || role === "" ? className : role).toLowerCase().replace(/message(chunk)?$/, "");
  return { user: "human", assistant: "ai" }[name] ?? name;
}

/** Returns the content as text. */
export function messageContent(message: Message): string {
  const content = (message["kwargs"] as Message | undefined)?.["content"] ?? message["content"];
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content == null ? "" : JSON.stringify(content);
  return content.map((block: unknown) => (typeof block === "string" ? block : blockText(block))).join("");
}

const blockText = (block: unknown): string => {
  const text = (block as Message | null)?.["text"];
  return typeof text === "string" ? text : "";
};

function parse(json: Json): Message | undefined {
  if (json == null) return undefined;
  const value: unknown = JSON.parse(json);
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Message) : undefined;
}

function messagesWithin(choices: unknown): unknown {
  if (!Array.isArray(choices)) return undefined;
  return choices.flat().map((choice: unknown) => (choice as Message | null)?.["message"]);
}

function messageList(value: unknown): Message[] | undefined {
  const list: unknown[] = Array.isArray(value) ? value.flat() : isMessage(value) ? [value] : [];
  return list.length > 0 && list.every(isMessage) ? list : undefined;
}

function isMessage(value: unknown): value is Message {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const message = value as Message;
  const kwargs = message["kwargs"] as Message | undefined;
  return ("content" in message && ("role" in message || "type" in message)) || (kwargs != null && "content" in kwargs);
}
