import { z } from "zod";

interface JsonSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  minItems?: number;
  minimum?: number;
  format?: string;
}

/**
 * Returns a body that a route's schema accepts, as far as JSON Schema can tell, so that a request gets past the
 * validation. `find`: returns the value of a field; undefined for the smallest that is valid.
 */
export function sampleBody(schema: z.ZodType, find: (name: string) => unknown): unknown {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" }) as JsonSchema;
  return sample(json, "", find);
}

function sample(schema: JsonSchema, name: string, find: (name: string) => unknown): unknown {
  if ("const" in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [variant] = schema.anyOf ?? schema.oneOf ?? [];
  if (variant && !schema.properties) return sample(variant, name, find);
  switch (schema.type) {
    case "object": {
      const named = Object.entries(schema.properties ?? {}).filter(
        ([field]) => schema.required?.includes(field) === true || find(field) !== undefined,
      );
      return Object.fromEntries(named.map(([field, inner]) => [field, sample(inner, field, find)]));
    }
    case "array":
      return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () => sample(schema.items ?? {}, name, find));
    case "string":
      return find(name) ?? (schema.format === "date-time" ? "2026-01-01T00:00:00Z" : "sample");
    case "integer":
    case "number":
      return Math.max(1, schema.minimum ?? 1);
    case "boolean":
      return true;
    default:
      return find(name) ?? null;
  }
}
