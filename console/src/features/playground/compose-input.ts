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

/** Creates a human message; pictures are data URLs. */
export function humanMessage(text: string, pictures: readonly string[], id = newId()): Fields {
  const content =
    pictures.length === 0
      ? text
      : [
          ...(text === "" ? [] : [{ type: "text", text }]),
          ...pictures.map((url) => ({ type: "image_url", image_url: { url } })),
        ];
  return { id, type: "human", content };
}
