import type { AgentDeps } from "../deps.ts";

export const TEXT = "text/plain";
export const DATA = "application/json";

interface Schema {
  type?: unknown;
  properties?: object;
}

/**
 * Returns the media types of the messages that a graph accepts: text becomes a message of its input, data parts become
 * fields of it. Empty where the input is not an object.
 */
export async function inputModes(deps: Pick<AgentDeps, "hosts">, graphId: string): Promise<string[]> {
  const result = await deps.hosts.call("graph.schemas", { graph_id: graphId, config: {}, types: false });
  const { input_schema: input } = JSON.parse(result.toString()) as { input_schema?: Schema | null };
  // a graph without an input schema may accept messages
  if (!input?.properties && (input?.type ?? "object") === "object") return [TEXT, DATA];
  if (!input?.properties) return [];
  return "messages" in input.properties ? [TEXT, DATA] : [DATA];
}
