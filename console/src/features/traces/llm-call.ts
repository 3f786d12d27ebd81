import type { AnyRun } from "../runs/run-record.ts";

export interface OfferedTool {
  name: string;
  description: string | null;
  /** JSON schema of the arguments. */
  parameters: unknown;
}

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Invocation parameters that are shown elsewhere, or that say nothing about the call. */
const HIDDEN = new Set(["model", "model_name", "_type", "tools", "functions", "messages", "stream", "stream_options"]);

function invocation(run: Pick<AnyRun, "extra" | "inputs">): Fields {
  const { invocation_params: params } = (run.extra ?? {}) as { invocation_params?: unknown };
  if (isObject(params)) return params;
  // wrappers of a provider's SDK record its request as the inputs
  const inputs = run.inputs as unknown;
  return isObject(inputs) && typeof inputs["model"] === "string" ? inputs : {};
}

/** Returns the parameters that a model was called with, such as its temperature; objects as JSON. */
export function callParameters(run: Pick<AnyRun, "extra" | "inputs">): [name: string, value: string][] {
  return Object.entries(invocation(run)).flatMap(([name, value]): [string, string][] => {
    if (HIDDEN.has(name) || value === null || value === undefined || value === "") return [];
    if (typeof value === "object" && Object.keys(value).length === 0) return [];
    return [[name, typeof value === "string" ? value : JSON.stringify(value)]];
  });
}

/** Returns the tools that a model was offered, in the formats of OpenAI, Anthropic, Google and older functions. */
export function offeredTools(run: Pick<AnyRun, "extra" | "inputs">): OfferedTool[] {
  const params = invocation(run);
  const lists = [params["tools"], params["functions"]].filter(Array.isArray);
  return lists.flat().flatMap((tool: unknown): OfferedTool[] => {
    if (!isObject(tool)) return [];
    const declared = tool["functionDeclarations"] ?? tool["function_declarations"];
    if (Array.isArray(declared)) return declared.filter(isObject).flatMap(readTool);
    return readTool(isObject(tool["function"]) ? tool["function"] : tool);
  });
}

function readTool(tool: Fields): OfferedTool[] {
  // a tool that the provider executes itself has only a type
  const name = text(tool["name"]) ?? text(tool["type"]);
  if (name === null) return [];
  const parameters = tool["parameters"] ?? tool["input_schema"] ?? tool["parametersJsonSchema"] ?? null;
  return [{ name, description: text(tool["description"]), parameters }];
}
