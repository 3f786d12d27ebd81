import type { Graph } from "../graphs/graph.ts";
import type { HostCalls } from "../../../host-kit/src/host-protocol.ts";
import type { SchemasByNamespace } from "../schemas/source-schemas.ts";
import { graphSchemas, hasDerivedSchemas } from "./graph-schemas.ts";

/** `typed`: reads the schemas from the project's source. */
type Typed = () => Promise<SchemasByNamespace>;

export async function readSchemas(graph: Graph, graphId: string, typed: Typed): Promise<Record<string, unknown>> {
  const own = hasDerivedSchemas(graph) ? undefined : (await typed())[""];
  const { input, output, state, config } = await graphSchemas(graph, own);
  return {
    graph_id: graphId,
    input_schema: input,
    output_schema: output,
    state_schema: state,
    config_schema: config,
    // LangGraph.js does not distinguish the two
    context_schema: config,
  };
}

/** Returns the subgraphs keyed by namespace, nested ones joined by `|`. */
export async function readSubgraphs(
  graph: Graph,
  namespace: string | undefined,
  recurse: boolean,
  typed: Typed,
): Promise<Record<string, unknown>> {
  const subgraphs: Record<string, unknown> = {};
  // one wait for all of them
  let declared: SchemasByNamespace | undefined;
  for await (const [name, subgraph] of graph.getSubgraphsAsync(namespace, recurse)) {
    if (!hasDerivedSchemas(subgraph)) declared ??= await typed();
    subgraphs[name] = await graphSchemas(subgraph, declared?.[name]);
  }
  return subgraphs;
}

export async function readDrawing(
  graph: Graph,
  config: object,
  xray: boolean | number,
): Promise<HostCalls["graph.drawing"]["result"]> {
  const { nodes, edges } = (await graph.getGraphAsync({ ...config, xray })).toJSON();
  return { nodes, edges: edges.map((edge) => ({ ...edge, conditional: edge.conditional ?? false })) };
}
