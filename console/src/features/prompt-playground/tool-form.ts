/** Tools as a form: name, description and parameters. A tool that does not fit is edited as JSON. */
import { withProperty } from "../../ui/schema-form/schema.ts";
import { asText, isObject } from "./prompt.ts";

export const PARAMETER_TYPES = ["string", "number", "integer", "boolean", "object", "array"] as const;

export interface Parameter {
  name: string;
  type: (typeof PARAMETER_TYPES)[number];
  description: string;
  isRequired: boolean;
}

export interface ToolForm {
  name: string;
  description: string;
  parameters: Parameter[];
}

export const NEW_TOOL = {
  type: "function",
  function: { name: "", description: "", parameters: { type: "object", properties: {}, required: [] } },
};

/** Returns where a format keeps the tool's name and schema: OpenAI's, Anthropic's or the flat one. */
function locate(tool: unknown): { inner: Record<string, unknown>; schemaKey: string } | null {
  if (!isObject(tool)) return null;
  const inner = isObject(tool["function"]) ? tool["function"] : tool;
  if (typeof inner["name"] !== "string") return null;
  return { inner, schemaKey: "input_schema" in inner ? "input_schema" : "parameters" };
}

/** Returns a tool's name; an empty string for broken JSON and for a provider's own tools. */
export function toolName(text: string): string {
  return readToolForm(text)?.name ?? asText(locate(parse(text))?.inner["name"]);
}

/** Reads a tool; null when the form can't show all of it. */
export function readToolForm(text: string): ToolForm | null {
  const found = locate(parse(text));
  if (!found) return null;
  const { inner, schemaKey } = found;
  const schema = inner[schemaKey] ?? {};
  if (!isObject(schema)) return null;
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties) || !Array.isArray(required)) return null;
  const parameters: Parameter[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const type = PARAMETER_TYPES.find((candidate) => isObject(property) && candidate === property["type"]);
    if (!isObject(property) || type === undefined) return null;
    const { description = "" } = property;
    if (typeof description !== "string") return null;
    parameters.push({ name, type, description, isRequired: required.includes(name) });
  }
  const { description = "" } = inner;
  return typeof description === "string" ? { name: String(inner["name"]), description, parameters } : null;
}

/** Writes a form into the tool's JSON; members that the form does not show stay. */
export function writeToolForm(text: string, form: ToolForm): string {
  const tool = parse(text) as Record<string, unknown>;
  const { inner, schemaKey } = locate(tool)!;
  const schema = isObject(inner[schemaKey]) ? inner[schemaKey] : { type: "object" };
  const before = isObject(schema["properties"]) ? Object.values(schema["properties"]) : [];
  const properties = Object.fromEntries(
    form.parameters.map(({ name, type, description }, index) => {
      const kept = withProperty(isObject(before[index]) ? before[index] : {}, "description", undefined);
      const isSameType = kept["type"] === type;
      return [name, { ...(isSameType && kept), type, ...(description !== "" && { description }) }];
    }),
  );
  const required = form.parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const next = {
    ...inner,
    name: form.name,
    description: form.description,
    [schemaKey]: { ...schema, properties, required },
  };
  return JSON.stringify(isObject(tool["function"]) ? { ...tool, function: next } : next, null, 2);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
