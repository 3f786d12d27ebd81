/**
 * Valid values of a JSON Schema (2020-12, as the OpenAPI documents contain it), as a fast-check arbitrary. Properties
 * and parameters whose name is that of known objects mostly get their ids, or most requests would end at 404.
 */
import fc from "fast-check";

export type Schema = Readonly<Record<string, unknown>>;

/** Ids by the name of a parameter or property: `thread_id` → ids of threads. */
export type KnownIds = Readonly<Record<string, readonly string[]>>;

export interface SchemaContext {
  /** `components.schemas` of the document. */
  components: Readonly<Record<string, Schema>>;
  ids: KnownIds;
}

const MAX_DEPTH = 6;

const anything = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.constantFrom<unknown>("text", 1, true, null, {}, []),
    fc.jsonValue({ maxDepth: 2, noUnicodeString: true } as object),
  );

export function valuesOf(schema: unknown, context: SchemaContext, name = "", depth = 0): fc.Arbitrary<unknown> {
  const known = context.ids[name] ?? context.ids[name.replace(/s$/, "")];
  if (known !== undefined && known.length > 0 && acceptsText(schema)) {
    const own = fc.constantFrom(...known);
    const made = valuesOf(schema, { ...context, ids: {} }, name, depth);
    return fc.oneof({ weight: 4, arbitrary: own as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: made });
  }
  if (schema === true || schema === undefined || schema === null || typeof schema !== "object") return anything();
  return valuesOfObject(schema as Schema, context, name, depth);
}

function valuesOfObject(schema: Schema, context: SchemaContext, name: string, depth: number): fc.Arbitrary<unknown> {
  const { $ref, enum: choices, const: constant, anyOf, oneOf, allOf, type } = schema as Record<string, never>;
  if (typeof $ref === "string") {
    const target = context.components[($ref as string).split("/").at(-1)!];
    if (depth > MAX_DEPTH || target === undefined) return fc.constant(null);
    return valuesOf(target, context, name, depth + 1);
  }
  if (constant !== undefined) return fc.constant(constant);
  if (Array.isArray(choices)) return fc.constantFrom(...(choices as unknown[]));
  const variants = (anyOf ?? oneOf) as unknown[] | undefined;
  if (variants) {
    const all = depth > MAX_DEPTH ? variants.slice(0, 1) : variants;
    return fc.oneof(...all.map((variant) => valuesOf(variant, context, name, depth + 1)));
  }
  if (Array.isArray(allOf)) {
    const parts = (allOf as unknown[]).map((part) => valuesOf(part, context, name, depth + 1));
    return fc.tuple(...parts).map((values) => Object.assign({}, ...values) as unknown);
  }
  const types = [type ?? guessType(schema)].flat() as string[];
  return types.length === 1
    ? valuesOfType(types[0]!, schema, context, name, depth)
    : fc.oneof(...types.map((one) => valuesOfType(one, schema, context, name, depth)));
}

const guessType = (schema: Schema): string =>
  "properties" in schema || "additionalProperties" in schema ? "object" : "items" in schema ? "array" : "any";

function valuesOfType(
  type: string,
  schema: Schema,
  context: SchemaContext,
  name: string,
  depth: number,
): fc.Arbitrary<unknown> {
  switch (type) {
    case "object":
      return objects(schema, context, depth);
    case "array":
      return arrays(schema, context, name, depth);
    case "string":
      return texts(schema);
    case "integer":
      return fc.integer(bounds(schema, -2147483648, 2147483647));
    case "number": {
      const { min, max } = bounds(schema, -1e6, 1e6);
      return fc.double({ min, max, noNaN: true, noDefaultInfinity: true });
    }
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return anything();
  }
}

function bounds(schema: Schema, least: number, most: number): { min: number; max: number } {
  const low = Number(schema["minimum"] ?? schema["exclusiveMinimum"] ?? least);
  const high = Number(schema["maximum"] ?? schema["exclusiveMaximum"] ?? most);
  const min = Math.max(Number.MIN_SAFE_INTEGER, low + (schema["exclusiveMinimum"] !== undefined ? 1 : 0));
  const max = Math.min(Number.MAX_SAFE_INTEGER, high - (schema["exclusiveMaximum"] !== undefined ? 1 : 0));
  // page sizes and offsets that reach what exists
  return { min: Math.max(min, min >= 0 ? min : -1000), max: Math.max(min, Math.min(max, 1000)) };
}

function objects(schema: Schema, context: SchemaContext, depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, unknown>);
  const required = new Set((schema["required"] ?? []) as string[]);
  const chosen = depth > MAX_DEPTH ? properties.filter(([name]) => required.has(name)) : properties;
  const model = Object.fromEntries(
    chosen.map(([name, property]) => [name, valuesOf(property, context, name, depth + 1)]),
  );
  const declared = fc.record(model, {
    requiredKeys: chosen.map(([name]) => name).filter((name) => required.has(name)),
  });
  const more = schema["additionalProperties"];
  if (more === undefined || more === false || depth > MAX_DEPTH) return declared;
  const others = fc.dictionary(fc.constantFrom("a", "b", "key", "0"), valuesOf(more, context, "", depth + 1), {
    maxKeys: 2,
  });
  return fc.tuple(declared, others).map(([own, other]) => ({ ...other, ...own }));
}

function arrays(schema: Schema, context: SchemaContext, name: string, depth: number): fc.Arbitrary<unknown> {
  const { items, prefixItems, minItems, maxItems } = schema as Record<string, never>;
  if (Array.isArray(prefixItems)) {
    return fc.tuple(...(prefixItems as unknown[]).map((item) => valuesOf(item, context, name, depth + 1)));
  }
  const minLength = Number(minItems ?? 0);
  const maxLength = Math.max(minLength, Math.min(Number(maxItems ?? 3), depth > MAX_DEPTH ? 0 : 3));
  return fc.array(valuesOf(items, context, name.replace(/s$/, ""), depth + 1), { minLength, maxLength });
}

function texts(schema: Schema): fc.Arbitrary<string> {
  const { format, pattern, minLength, maxLength } = schema as Record<string, never>;
  if (format === "uuid") return fc.uuid();
  if (format === "date-time")
    return fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString());
  if (format === "uri")
    return fc.constantFrom("https://a.example/x", "http://127.0.0.1:1/", "https://[::1]/", "file:///etc/passwd");
  if (format === "email") return fc.constantFrom("a@b.example", "ä@xn--4ca.example");
  if (typeof pattern === "string") {
    try {
      return fc.stringMatching(new RegExp(pattern as string));
    } catch {
      // a construct that cannot be generated; such values are mutated texts then
    }
  }
  const min = Number(minLength ?? 0);
  const max = Math.max(min, Math.min(Number(maxLength ?? 20), 60));
  const words = fc
    .constantFrom("a", "name", "x y", "2024-01-01T00:00:00Z")
    .filter((word) => word.length >= min && word.length <= max);
  const made = fc.string({ minLength: min, maxLength: max });
  return max >= 20 && min <= 1 ? fc.oneof(words, made) : made;
}

function acceptsText(schema: unknown): boolean {
  if (schema === null || typeof schema !== "object") return true;
  const { type, anyOf, oneOf, $ref } = schema as Record<string, unknown>;
  if ($ref !== undefined) return false;
  const variants = (anyOf ?? oneOf) as unknown[] | undefined;
  if (variants) return variants.some((variant) => acceptsText(variant));
  return type === undefined || [type].flat().includes("string");
}
