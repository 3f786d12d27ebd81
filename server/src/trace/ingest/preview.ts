import { wellFormed } from "../../base/well-formed.ts";

/** Characters of a preview. */
const LENGTH = 250;
/** Search depth. Deeper and longer searches cost more than a preview is worth. */
const MAX_DEPTH = 6;

const TEXT_KEYS = [
  "content",
  "text",
  "output",
  "input",
  "answer",
  "question",
  "query",
  "result",
  "response",
  "value",
  "kwargs",
];
const LIST_KEYS = ["messages", "parts", "generations", "choices", "output", "documents"];

/**
 * Returns one line of plain text for lists: the last message or the single text if there is one, else the start of the
 * JSON.
 */
export function createPreview(value: unknown, raw: string): string {
  const found = findText(value, 0) ?? raw;
  const text = found.length > 2 * LENGTH ? found.slice(0, 2 * LENGTH) : found;
  const line = text.replace(/\s\s+|[^\S ]/g, " ").trim();
  // three dots, not an ellipsis: a character beyond Latin-1 doubles the memory of the text of all rows
  return wellFormed(line.length > LENGTH ? `${line.slice(0, LENGTH - 3)}...` : line);
}

function findText(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (value === null || typeof value !== "object" || depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) {
    // the last message; within a message's parts the first text
    for (const part of isParts(value) ? value : value.slice(-3).reverse()) {
      const text = findText(part, depth + 1);
      if (text !== undefined) return text;
    }
    return undefined;
  }
  const object = value as Record<string, unknown>;
  for (const key of LIST_KEYS) {
    if (!Array.isArray(object[key])) continue;
    const text = findText(object[key], depth + 1);
    if (text !== undefined) return text;
  }
  for (const key of ["message", ...TEXT_KEYS]) {
    const text = object[key] === undefined ? undefined : findText(object[key], depth + 1);
    if (text !== undefined) return text;
  }
  const keys = Object.keys(object);
  return keys.length === 1 ? findText(object[keys[0]!], depth + 1) : undefined;
}

/** Parts of a message; their text is `text`, or `content` in OpenTelemetry's conventions. */
function isParts([first]: unknown[]): boolean {
  if (first === null || typeof first !== "object") return false;
  const { type, text, content } = first as Record<string, unknown>;
  // messages of LangChain have a type and a content too
  return typeof type === "string" && typeof (type === "text" ? (text ?? content) : text) === "string";
}
