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

/** Length from which a text is easier to read as Markdown than as a JSON string. */
const LONG = 80;

/** Returns the fields of an object that contains texts to read, such as `{answer: "…", sources: […]}`; else null. */
export function textFields(value: unknown): [name: string, value: unknown][] | null {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const fields = Object.entries(value as object) as [string, unknown][];
  const isText = (field: unknown) => typeof field === "string" && (field.length >= LONG || field.includes("\n"));
  return fields.length <= 20 && fields.some(([, field]) => isText(field)) ? fields : null;
}

/** Returns the text when it is the only content: `{input: "…"}`, `{output: "…"}`. */
export function onlyText(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const values = Object.values(value as object) as unknown[];
  return values.length === 1 && typeof values[0] === "string" ? values[0] : null;
}
