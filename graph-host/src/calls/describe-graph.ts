import type { Graph } from "../graphs/graph.ts";
import type { HostCalls } from "../host-protocol.ts";
import { graphSchemas } from "./graph-schemas.ts";

export async function readSchemas(graph: Graph, graphId: string): Promise<Record<string, unknown>> {
  const { input, output, state, config } = await graphSchemas(graph);
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

/** Returns the subgraphs keyed by namespace, nested ones joined by `|` (contract agent-server §4). */
export async function readSubgraphs(
  graph: Graph,
  namespace: string | undefined,
  recurse: boolean,
): Promise<Record<string, unknown>> {
  const subgraphs: Record<string, unknown> = {};
  for await (const [name, subgraph] of graph.getSubgraphsAsync(namespace, recurse)) {
    subgraphs[name] = await graphSchemas(subgraph);
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
