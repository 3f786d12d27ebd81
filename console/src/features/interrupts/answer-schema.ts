import type { JsonSchema } from "../../ui/schema-form/schema.ts";

/** Payload members that hold the schema of the answer, as spelled by common clients; MCP uses `requestedSchema`. */
export const SCHEMAS = [
  "schema",
  "response_schema",
  "responseSchema",
  "answer_schema",
  "requested_schema",
  "requestedSchema",
  "json_schema",
];

/** Returns the JSON schema of the object that an interrupt's payload asks for; null if the payload has none. */
export function answerSchema(payload: unknown): JsonSchema | null {
  if (typeof payload !== "object" || payload === null) return null;
  for (const name of SCHEMAS) {
    const schema = (payload as Record<string, unknown>)[name];
    if (typeof schema !== "object" || schema === null) continue;
    const { type = "object", properties } = schema as { type?: unknown; properties?: unknown };
    if (type !== "object" || typeof properties !== "object" || properties === null) continue;
    if (Object.keys(properties).length > 0) return schema as JsonSchema;
  }
  return null;
}

/** Returns the names of required properties that an answer lacks. */
export const missingFields = ({ required = [] }: JsonSchema, answer: Record<string, unknown>): string[] =>
  required.filter((name) => answer[name] === undefined || answer[name] === "");
