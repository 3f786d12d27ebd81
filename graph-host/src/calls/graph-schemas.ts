import type { Graph } from "../graphs/graph.ts";
import { channelSchema } from "./channel-schema.ts";

export interface GraphSchemas {
  state: object;
  input: object;
  output: object;
  config: object;
}

type SchemaReader = (graph: unknown) => object | undefined;
type SchemaReaders = Partial<Record<`get${"Input" | "Output" | "Update" | "Config"}TypeSchema`, SchemaReader>>;

/** LangGraph's readers of zod schemas; versions before 0.2.74 have none. */
const library = (await import("@langchain/langgraph/zod/schema").catch(() => ({}))) as SchemaReaders;

/**
 * Returns the JSON Schemas of a graph's input, output and state. LangGraph derives them where the state is defined with
 * zod or another schema library. An `Annotation` has no types at run time, so its schema contains only the channels'
 * names and what their reducers and defaults reveal.
 */
export async function graphSchemas(graph: Graph): Promise<GraphSchemas> {
  const { builder = {} } = graph;
  const channels = Object.keys(graph.channels).filter((name) => !name.includes(":") && !name.startsWith("__"));
  const propertyNames = (definition: unknown) => {
    const keys =
      typeof definition === "object" && definition !== null
        ? Object.keys(definition).filter((key) => channels.includes(key))
        : [];
    return keys.length > 0 ? keys : channels;
  };
  const fromChannels = (names: string[]) => ({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, channelSchema(name, graph.channels[name])])),
  });
  return {
    state: derived(library.getUpdateTypeSchema, graph) ?? fromChannels(channels),
    input: derived(library.getInputTypeSchema, graph) ?? fromChannels(propertyNames(builder._inputDefinition)),
    output: derived(library.getOutputTypeSchema, graph) ?? fromChannels(propertyNames(builder._outputDefinition)),
    config: derived(library.getConfigTypeSchema, graph) ?? { type: "object", properties: {} },
  };
}

/**
 * Returns undefined for a schema that JSON Schema cannot express (a zod transform, for example), so that the others
 * survive.
 */
function derived(read: SchemaReader | undefined, graph: Graph): object | undefined {
  try {
    return read?.(graph);
  } catch {
    return undefined;
  }
}
