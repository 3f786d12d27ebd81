/** Subset of JSON Schema that forms support. Anything else becomes a field for arbitrary JSON. */
export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema | JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  definitions?: Record<string, JsonSchema>;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  [keyword: string]: unknown;
}

export type Kind = "text" | "number" | "integer" | "boolean" | "choice" | "texts" | "list" | "object" | "any";

export interface Field {
  kind: Kind;
  schema: JsonSchema;
  isNullable: boolean;
}

/** Follows references and removes `null` from alternatives. Objects and lists below level 4 are treated as any JSON. */
export function readField(unresolved: JsonSchema, root: JsonSchema, depth = 0): Field {
  const schema = resolve(unresolved, root);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) {
    const others = options.filter(({ type }) => type !== "null");
    const isNullable = others.length < options.length;
    const constants = others.map((option) => resolve(option, root)["const"]);
    if (others.length > 0 && constants.every((value) => value !== undefined)) {
      return { kind: "choice", schema: { ...schema, enum: constants }, isNullable };
    }
    if (others.length !== 1) return { kind: "any", schema, isNullable };
    const inner = readField(others[0]!, root, depth + 1);
    const { title = inner.schema.title, description = inner.schema.description } = schema;
    return { ...inner, schema: { ...inner.schema, title, description }, isNullable: isNullable || inner.isNullable };
  }
  const types = [schema.type ?? []].flat();
  const isNullable = types.includes("null");
  const known = types.filter((type) => type !== "null");
  const kind = schema.enum ? "choice" : known.length === 1 ? readKind(known[0]!, schema, root, depth) : "any";
  return { kind, schema, isNullable };
}

function readKind(type: string, schema: JsonSchema, root: JsonSchema, depth: number): Kind {
  if (type === "string") return "text";
  if (type === "number" || type === "integer" || type === "boolean") return type;
  if (depth > 4) return "any";
  if (type === "object") return Object.keys(schema.properties ?? {}).length > 0 ? "object" : "any";
  if (type !== "array" || !schema.items || Array.isArray(schema.items)) return "any";
  const { kind } = readField(schema.items, root, depth + 1);
  return kind === "text" ? "texts" : kind === "any" || kind === "list" || kind === "texts" ? "any" : "list";
}

function resolve(schema: JsonSchema, root: JsonSchema, seen = 0): JsonSchema {
  if (schema.allOf?.length === 1) return resolve({ ...schema, ...schema.allOf[0], allOf: undefined }, root, seen + 1);
  if (schema.$ref === undefined || seen > 20) return schema;
  const path = schema.$ref.replace(/^#\/?/, "").split("/").filter(Boolean);
  let target: unknown = root;
  for (const name of path) target = (target as Record<string, unknown> | undefined)?.[decodeURIComponent(name)];
  if (target === undefined || target === null || target === schema) return {};
  return resolve({ ...schema, $ref: undefined, ...(target as JsonSchema) }, root, seen + 1);
}

/** Returns the initial value of a new list entry. */
export function emptyValue(unresolved: JsonSchema, root: JsonSchema): unknown {
  const { kind, schema } = readField(unresolved, root);
  if (schema.default !== undefined) return schema.default;
  const empty: Partial<Record<Kind, unknown>> = {
    text: "",
    number: 0,
    integer: 0,
    boolean: false,
    object: {},
    texts: [],
    list: [],
  };
  return empty[kind] ?? null;
}

/** Parses JSON, and returns any other text unchanged: graphs in JavaScript often do not declare their types. */
export function readAny(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  try {
    return JSON.parse(trimmed) as unknown;
  } catch {
    return text;
  }
}

/** True for text that starts like JSON but is invalid: most likely a typo, which the form reports. */
export function isBrokenJson(text: string): boolean {
  return /^\s*[[{"]/.test(text) && typeof readAny(text) === "string" && readAny(text) === text;
}

/** Sets a property; undefined removes it. */
export function withProperty(value: Record<string, unknown>, name: string, next: unknown): Record<string, unknown> {
  const copy = { ...value, [name]: next };
  if (next === undefined) delete copy[name];
  return copy;
}
