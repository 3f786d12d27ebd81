/** Schemas of structured answers that have the form of an example. */

type Json = Record<string, unknown>;

const MAX_LEVELS = 12;
const MAX_NAMES = 200;

/** Returns a JSON Schema that a value, and others like it, match. */
function schemaLike(value: unknown, level = 0): Json {
  if (typeof value === "number") return { type: "number" };
  if (typeof value === "boolean") return { type: "boolean" };
  if (level < MAX_LEVELS && Array.isArray(value)) {
    return { type: "array", items: value.length > 0 ? schemaLike(value[0], level + 1) : { type: "string" } };
  }
  if (level < MAX_LEVELS && value !== null && typeof value === "object" && !Array.isArray(value)) {
    const entries = Object.entries(value).slice(0, MAX_NAMES);
    return {
      type: "object",
      properties: Object.fromEntries(entries.map(([name, each]) => [name, schemaLike(each, level + 1)])),
      required: entries.map(([name]) => name),
      additionalProperties: false,
    };
  }
  return { type: "string" };
}

/** Schema of an answer with several variants of an example. */
export function variantsSchema({ inputs, outputs }: { inputs: unknown; outputs: unknown }): Json {
  const variant = { inputs, ...(outputs !== null && { outputs }) };
  return {
    title: "variants",
    type: "object",
    properties: { variants: { type: "array", items: schemaLike(variant) } },
    required: ["variants"],
    additionalProperties: false,
  };
}
