import type { Graph } from "../graphs/graph.ts";
import type { TypedSchemas } from "../schemas/read-types.ts";
import type { JsonSchema } from "../schemas/type-schema.ts";
import { channelSchema, MESSAGES } from "./channel-schema.ts";

export interface GraphSchemas {
  state: object;
  input: object;
  output: object;
  config: object;
}

interface DeclaredSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
  definitions?: Record<string, JsonSchema>;
}

/** Of the schemas that are not derived by a schema library, as LangGraph's server names it. */
const DIALECT = "http://json-schema.org/draft-07/schema#";

type SchemaReader = (graph: unknown) => object | undefined;
type SchemaReaders = Partial<Record<`get${"Input" | "Output" | "Update" | "Config"}TypeSchema`, SchemaReader>>;

/** LangGraph's readers of zod schemas; versions before 0.2.74 have none. */
const library = (await import("@langchain/langgraph/zod/schema").catch(() => ({}))) as SchemaReaders;

/** Whether LangGraph derives the graph's schemas itself, so that its source need not be read. */
export const hasDerivedSchemas = (graph: Graph): boolean => derived(library.getInputTypeSchema, graph) !== undefined;

/**
 * Returns the JSON Schemas of a graph's input, output and state. LangGraph derives them where the state is defined with
 * zod or another schema library. An `Annotation` has no types at run time: `typed` are those that its source declares.
 * Without them, its schema contains only the channels' names and what their reducers and defaults reveal.
 */
export async function graphSchemas(graph: Graph, typed: TypedSchemas = {}): Promise<GraphSchemas> {
  const { builder = {} } = graph;
  // old versions of LangGraph have a channel for each node
  const isState = (name: string) => !name.includes(":") && !name.startsWith("__") && !(name in graph.nodes);
  const channels = Object.keys(graph.channels).filter(isState);
  const propertyNames = (definition: unknown) => {
    const keys =
      typeof definition === "object" && definition !== null
        ? Object.keys(definition).filter((key) => channels.includes(key))
        : [];
    return keys.length > 0 ? keys : channels;
  };
  const fromChannels = (names: string[], declared: JsonSchema = {}) => {
    const { properties = {}, required, definitions } = declared as DeclaredSchema;
    const property = (name: string) => {
      const found = channelSchema(name, graph.channels[name]);
      const type = properties[name];
      const isMessages = found !== MESSAGES || type?.["langgraph_type"] === MESSAGES.langgraph_type;
      return type && Object.keys(type).length > 0 && isMessages ? type : found;
    };
    const known = required?.filter((name) => names.includes(name));
    return {
      $schema: DIALECT,
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, property(name)])),
      ...(known && known.length > 0 && { required: known }),
      ...(definitions && { definitions }),
    };
  };
  return {
    state:
      derived(readStateSchema, graph) ??
      derived(library.getUpdateTypeSchema, graph) ??
      fromChannels(channels, typed.state),
    input:
      derived(library.getInputTypeSchema, graph) ?? fromChannels(propertyNames(builder._inputDefinition), typed.input),
    output:
      derived(library.getOutputTypeSchema, graph) ??
      fromChannels(propertyNames(builder._outputDefinition), typed.output),
    config: derived(library.getConfigTypeSchema, graph) ?? {
      $schema: DIALECT,
      ...(typed.config ?? { type: "object", properties: {} }),
    },
  };
}

/** Schema of the values of a `StateSchema`, where LangGraph's reader returns that of its updates. */
const readStateSchema: SchemaReader = (graph) => {
  const { builder } = graph as { builder?: { _schemaRuntimeDefinition?: { getJsonSchema?: () => object } } };
  return builder?._schemaRuntimeDefinition?.getJsonSchema?.();
};

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
