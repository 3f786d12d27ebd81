import { asMessage, asMessages, type Message } from "../../ui/messages/message.ts";

/**
 * Finds the conversation in a run's inputs or outputs: a list under `messages` or another name, a batch of one, a
 * single message, or the messages in a model's `generations`. Null where there is none.
 */
export function findMessages(value: unknown): Message[] | null {
  if (value === null || typeof value !== "object") return null;
  const list = toMessages(value);
  if (list) return list;
  const fields = value as Record<string, unknown>;
  const generated = fields["generations"];
  if (Array.isArray(generated)) {
    const found = generated.flat(1).flatMap((generation: unknown) => {
      const { message, text } = (generation ?? {}) as { message?: unknown; text?: unknown };
      const read =
        asMessage(message) ?? (typeof text === "string" ? asMessage({ role: "assistant", content: text }) : null);
      return read ? [read] : [];
    });
    if (found.length > 0) return found;
  }
  const single = asMessage(value) ?? asMessage(fields["message"]) ?? asMessage(fields["output"]);
  if (single) return [single];
  for (const name of ["messages", "input", "output", "chat_history", "choices"]) {
    const field = fields[name];
    const found = toMessages(field) ?? (name === "choices" ? choices(field) : null) ?? inner(field);
    if (found) return found;
  }
  return null;
}

/** Unwraps a state that is nested once: `{input: {messages: […]}}`. */
function inner(value: unknown): Message[] | null {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  return toMessages((value as Record<string, unknown>)["messages"]);
}

function toMessages(value: unknown): Message[] | null {
  if (!Array.isArray(value)) return null;
  const plain = asMessages(value);
  if (plain) return plain;
  return value.length === 1 && Array.isArray(value[0]) ? asMessages(value[0]) : null;
}

/** Reads responses in OpenAI's format. */
function choices(value: unknown): Message[] | null {
  if (!Array.isArray(value)) return null;
  return asMessages(value.map((entry: unknown) => (entry as { message?: unknown } | null)?.message));
}

/** Fields of an object that are rendered each by itself. */
const MAX_FIELDS = 30;

type Fields = [name: string, value: unknown][];

/** Whether a string is something to read, and not a name, an id or a number. */
const isProse = (value: unknown): boolean =>
  typeof value === "string" && (/\S\s+\S+\s+\S/.test(value) || value.includes("\n") || /(\*\*|`|^#|^- )/.test(value));

/**
 * Returns the fields of an object that has texts to read, such as `{answer: "…", sources: […]}`, at any of its first
 * two levels; else null.
 */
export function textFields(value: unknown, depth = 0): Fields | null {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const fields = Object.entries(value as object) as Fields;
  const hasText = fields.some(([, field]) => isProse(field) || (depth === 0 && hasTexts(field)));
  return fields.length <= MAX_FIELDS && hasText ? fields : null;
}

/** Entries of a list that are rendered each by itself, such as a retriever's documents. */
const MAX_ENTRIES = 20;

/** Returns the entries of a list of objects with texts; else null. */
export function textEntries(value: unknown): Fields[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ENTRIES) return null;
  const entries = value.map((entry) => textFields(entry, 1));
  return entries.every((entry) => entry !== null) ? entries : null;
}

const hasTexts = (value: unknown): boolean => textFields(value, 1) !== null || textEntries(value) !== null;

/** Returns what a state has besides its conversation, such as a plan; null when there is nothing else. */
export function besidesMessages(value: unknown): Fields | null {
  if (value === null || typeof value !== "object" || !Array.isArray((value as { messages?: unknown }).messages))
    return null;
  const isEmpty = (field: unknown) =>
    field === null || field === "" || (typeof field === "object" && Object.keys(field).length === 0);
  const rest = (Object.entries(value) as Fields).filter(([name, field]) => name !== "messages" && !isEmpty(field));
  return rest.length > 0 && rest.length <= MAX_FIELDS ? rest : null;
}

/** Returns the text when it is the only content: `{input: "…"}`, `{output: "…"}`. */
export function onlyText(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const values = Object.values(value as object) as unknown[];
  return values.length === 1 && typeof values[0] === "string" ? values[0] : null;
}
