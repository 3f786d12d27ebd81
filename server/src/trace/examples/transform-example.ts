import { type Transformation, transformationTypes } from "../datasets/mapping-schema.ts";
import { isObject, toOpenAiMessage, toOpenAiTool } from "./openai-messages.ts";

type Json = Record<string, unknown>;

interface Parts {
  inputs: Json;
  outputs: Json | null;
}

interface Context {
  /** Tools of the run, as it recorded them. */
  tools: readonly unknown[];
  schemas: { inputs: Json | null; outputs: Json | null };
}

/** Nesting levels that are looked at. */
const MAX_LEVELS = 64;

/**
 * Applies a dataset's transformations to an example that was taken from a run. Of several on one path, the order is that
 * of `transformationTypes`. A path that the example does not have changes nothing.
 */
export function transformExample<P extends Parts>(
  example: P,
  transformations: readonly Transformation[],
  context: Context,
): P {
  const ordered = transformations.toSorted(
    (a, b) => transformationTypes.indexOf(a.transformation_type) - transformationTypes.indexOf(b.transformation_type),
  );
  let { inputs, outputs } = example;
  for (const transformation of ordered) {
    const [part, ...path] = transformation.path;
    const schema = context.schemas[part as "inputs" | "outputs"];
    const change = (value: unknown) =>
      apply(transformation.transformation_type, value, schemaAt(schema, path), context);
    if (part === "inputs") inputs = asPart(changeAt(inputs, path, change), "messages");
    else if (outputs !== null) outputs = asPart(changeAt(outputs, path, change), "message");
  }
  return { ...example, inputs, outputs };
}

/** Wraps what became of a whole part, unless it is an object without a role. */
const asPart = (value: unknown, key: string): Json =>
  isObject(value) && !("role" in value && "content" in value) ? value : { [key]: value };

/** Returns a copy with another value at a path; names that are missing on the way are created for a defined value. */
function changeAt(value: unknown, path: readonly string[], change: (value: unknown) => unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(value);
  if (!isObject(value)) return value;
  const before = Object.hasOwn(value, name) ? value[name] : undefined;
  const after = changeAt(rest.length > 0 && before === undefined ? {} : before, rest, change);
  if (after === before || (before === undefined && (after === undefined || isEmpty(after)))) return value;
  return Object.fromEntries([...Object.entries(value).filter(([key]) => key !== name), [name, after]]);
}

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

function apply(
  type: Transformation["transformation_type"],
  value: unknown,
  schema: Json | null,
  { tools }: Context,
): unknown {
  switch (type) {
    case "convert_to_openai_message":
      return toMessages(value);
    case "convert_to_openai_tool":
      return Array.isArray(value)
        ? value.map((tool) => toOpenAiTool(tool) ?? (tool as unknown))
        : (toOpenAiTool(value) ?? value);
    case "remove_system_messages":
      return Array.isArray(value) ? withoutSystem(value) : value;
    case "remove_extra_fields":
      return schema ? withoutExtra(value, schema, 0) : value;
    case "extract_tools_from_run":
      return tools.length === 0 ? value : tools.map((tool) => toOpenAiTool(tool) ?? tool);
  }
}

/** Converts a message, a list of messages, or the generations of a model call. */
function toMessages(value: unknown): unknown {
  if (Array.isArray(value)) {
    // LangChain's model calls have a list of lists
    const list =
      value.length === 1 && Array.isArray(value[0]) && typeof value[0][0] !== "string"
        ? (value[0] as unknown[])
        : value;
    return list.map((message) => toOpenAiMessage(message) ?? message);
  }
  if (isObject(value) && Array.isArray(value["generations"])) {
    const first: unknown = value["generations"].flat()[0];
    return (isObject(first) ? toOpenAiMessage(first["message"]) : undefined) ?? value;
  }
  return toOpenAiMessage(value) ?? value;
}

const withoutSystem = (list: unknown[]): unknown[] =>
  list
    .map((item) => (Array.isArray(item) && typeof item[0] !== "string" ? withoutSystem(item) : (item as unknown)))
    .filter((item) => toOpenAiMessage(item)?.["role"] !== "system");

/** Returns the schema of the value at a path, as far as `properties` describe it. */
function schemaAt(schema: Json | null, path: readonly string[]): Json | null {
  let current: unknown = schema;
  for (const name of path) {
    const properties = isObject(current) ? current["properties"] : undefined;
    current = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : null;
  }
  return isObject(current) ? current : null;
}

function withoutExtra(value: unknown, schema: Json, level: number): unknown {
  if (level > MAX_LEVELS) return value;
  if (Array.isArray(value)) {
    const { items } = schema;
    return isObject(items) ? value.map((item) => withoutExtra(item, items, level + 1)) : value;
  }
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties)) return value;
  const kept = Object.entries(value).filter(([name]) => Object.hasOwn(properties, name));
  return Object.fromEntries(
    kept.map(([name, each]) => {
      const inner = properties[name];
      return [name, isObject(inner) ? withoutExtra(each, inner, level + 1) : each];
    }),
  );
}
