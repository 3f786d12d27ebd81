import { Graph, layout } from "@dagrejs/dagre";

/** Drawing as `GET /assistants/{id}/graph` returns it. Nodes of subgraphs are named `parent:child`. */
export interface Drawing {
  nodes: { id: string; type?: string | undefined }[];
  edges: { source: string; target: string; data?: string | null | undefined; conditional?: boolean | undefined }[];
}

export interface Place {
  id: string;
  label: string;
  isEnd: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

const NODE_HEIGHT = 34;
/** Average width of a character at the label's font size. */
const CHARACTER = 7.4;

/** Positions the nodes from top to bottom; x and y are the upper left corner. */
export function placeNodes({ nodes, edges }: Drawing): Place[] {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 32, ranksep: 42, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(nodes.map(({ id }) => id));
  for (const { id } of nodes) {
    const width = Math.max(72, nodeLabel(id).length * CHARACTER + 28);
    graph.setNode(id, { width, height: NODE_HEIGHT });
  }
  for (const [index, { source, target }] of edges.entries()) {
    if (known.has(source) && known.has(target)) graph.setEdge(source, target, {}, String(index));
  }
  layout(graph);
  return nodes.map(({ id }) => {
    const { x, y, width, height } = graph.node(id) as { x: number; y: number; width: number; height: number };
    const isEnd = id === "__start__" || id === "__end__";
    return { id, label: nodeLabel(id), isEnd, x: x - width / 2, y: y - height / 2, width, height };
  });
}

function nodeLabel(id: string): string {
  if (id === "__start__") return "start";
  if (id === "__end__") return "end";
  return id.replaceAll(":", " › ");
}
