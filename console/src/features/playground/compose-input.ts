import { newId } from "../../ui/new-id.ts";
import type { JsonSchema } from "../../ui/schema-form/schema.ts";

type Fields = Record<string, unknown>;

/** Returns the key of a graph's conversation in its state; null when it has none. */
export function findMessagesKey(schema: JsonSchema | null | undefined): string | null {
  const properties = Object.entries(schema?.properties ?? {});
  const marked = properties.find(([, property]) => property["langgraph_type"] === "messages");
  if (marked) return marked[0];
  return properties.some(([name]) => name === "messages") ? "messages" : null;
}

/** Whether a graph's input has fields besides the conversation, which the form shows. */
export const hasFields = (schema: JsonSchema | null | undefined, messagesKey: string | null): boolean =>
  Object.keys(schema?.properties ?? {}).some((name) => name !== messagesKey);

/** Creates a human message of a text and other parts, such as pictures and files. */
export function humanMessage(text: string, parts: readonly Fields[], id = newId()): Fields {
  const content = parts.length === 0 ? text : [...(text === "" ? [] : [{ type: "text", text }]), ...parts];
  return { id, type: "human", content };
}

/** Returns the parts of a message's content besides its first text, which an edit keeps. */
export function otherParts(content: unknown): Fields[] {
  if (!Array.isArray(content)) return [];
  const first = content.findIndex((part) => (part as Fields | null)?.["type"] === "text");
  return content.filter((part, index): part is Fields => typeof part === "object" && part !== null && index !== first);
}
