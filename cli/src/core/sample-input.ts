/** Subset of JSON Schema that a sample needs. */
interface Schema {
  $ref?: string;
  definitions?: Record<string, Schema>;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  default?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
}

/** Returns an input that a graph with this input schema will probably accept; it is used in the sample request. */
export function sampleInput(schema: unknown): Record<string, unknown> {
  const { properties = {}, required } = resolve(schema as Schema, schema as Schema);
  const input: Record<string, unknown> = {};
  if ("messages" in properties) input["messages"] = [{ role: "user", content: "Hello" }];
  for (const [name, property] of Object.entries(properties)) {
    if (!(name in input) && (required === undefined || required.includes(name))) {
      const value = sample(resolve(property, schema as Schema));
      if (value !== undefined) input[name] = value;
    }
  }
  return input;
}

function resolve(schema: Schema, root: Schema): Schema {
  const name = /^#\/(?:definitions|\$defs)\/(.+)$/.exec(schema.$ref ?? "")?.[1];
  const target = name === undefined ? undefined : (root.definitions?.[name] ?? root.$defs?.[name]);
  return target ? resolve(target, root) : schema;
}

function sample(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return schema.anyOf[0] && sample(schema.anyOf[0]);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "string":
      return "hello";
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return true;
    case "array":
    case "object":
      // Mostly what the graph accumulates, not its input.
      return undefined;
    default:
      // TypeScript's types are gone at run time: most untyped fields are text.
      return "hello";
  }
}
