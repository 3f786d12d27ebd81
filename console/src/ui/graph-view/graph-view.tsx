import { useComputedColorScheme } from "@mantine/core";
import {
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import { useEffect, useMemo, useState } from "react";

import "@xyflow/react/dist/style.css";
import classes from "./graph-view.module.css";
import { type Drawing, type Place, placeNodes } from "./layout.ts";

export type NodeState = "active" | "done" | "waiting" | "failed";

interface GraphViewProps {
  drawing: Drawing;
  /** State by node id; nodes without one are plain. */
  states?: ReadonlyMap<string, NodeState>;
  onNodeClick?: (id: string) => void;
  /** Nodes before which runs stop. */
  breakpoints?: ReadonlySet<string>;
  /** Called by a node's button; without it, breakpoints are not shown. */
  onBreakpoint?: (id: string) => void;
}

const FIT = { padding: 0.08, maxZoom: 1.1 };

interface NodeData extends Record<string, unknown> {
  place: Place;
  state: NodeState | undefined;
  /** Undefined where runs cannot stop. */
  breakpoint: { isSet: boolean; toggle: () => void } | undefined;
}
type GraphNode = Node<NodeData, "place">;
const NODE_TYPES = { place: PlaceNode };
const EDGE_TYPES = { loop: LoopEdge };

/** Load it lazily: `lazy(() => import("…/graph-view.tsx").then((it) => ({ default: it.GraphView })))`. */
export function GraphView({ drawing, states, onNodeClick, breakpoints, onBreakpoint }: GraphViewProps) {
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const places = useMemo(() => placeNodes(drawing), [drawing]);
  const edges = useMemo(() => layoutEdges(drawing, places), [drawing, places]);
  const [isMoved, setMoved] = useState(false);
  const nodes = places.map((place): GraphNode => ({
    id: place.id,
    type: "place",
    position: { x: place.x, y: place.y },
    width: place.width,
    height: place.height,
    data: {
      place,
      state: states?.get(place.id),
      breakpoint:
        // a run stops between the nodes of its own graph, not within a subgraph
        onBreakpoint === undefined || place.isEnd || place.id.includes(":")
          ? undefined
          : { isSet: breakpoints?.has(place.id) === true, toggle: () => onBreakpoint(place.id) },
    },
    ariaLabel: `${place.label}${states?.get(place.id) ? `, ${states.get(place.id)}` : ""}`,
  }));
  return (
    <div className={classes.frame} role="group" aria-label="Graph">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        colorMode={scheme}
        fitView
        fitViewOptions={FIT}
        onMoveStart={(event) => event !== null && setMoved(true)}
        minZoom={0.1}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={onNodeClick !== undefined}
        edgesFocusable={false}
        elementsSelectable={onNodeClick !== undefined}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
        {...(onNodeClick && { onNodeClick: (_, node) => onNodeClick(node.id) })}
      >
        <Controls
          showInteractive={false}
          fitViewOptions={FIT}
          onZoomIn={() => setMoved(true)}
          onZoomOut={() => setMoved(true)}
          onFitView={() => setMoved(false)}
        />
        {!isMoved && <RefitOnChange />}
      </ReactFlow>
    </div>
  );
}

/** Refits the drawing when its frame is resized: a narrower window, a rotated phone. */
function RefitOnChange() {
  const { fitView } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  useEffect(() => {
    if (width > 0 && height > 0) void fitView(FIT);
  }, [fitView, width, height]);
  return null;
}

function PlaceNode({ data: { place, state, breakpoint } }: NodeProps<GraphNode>) {
  return (
    <div className={classes.node} data-state={state} data-end={place.isEnd} data-node={place.id}>
      {breakpoint && (
        <button
          type="button"
          className={`${classes.breakpoint} nopan`}
          aria-label={`Stop before ${place.label}`}
          title={`Stop before ${place.label}`}
          aria-pressed={breakpoint.isSet}
          onClick={breakpoint.toggle}
        />
      )}
      <Handle type="target" position={Position.Top} className={classes.port} isConnectable={false} />
      {place.label}
      <Handle type="source" position={Position.Bottom} className={classes.port} isConnectable={false} />
      <Handle type="target" id="back" position={Position.Right} className={classes.port} isConnectable={false} />
      <Handle type="source" id="back" position={Position.Right} className={classes.port} isConnectable={false} />
    </div>
  );
}

/** Edge from a node to itself: its ends are the same port, between which the default curve has no length. */
function LoopEdge({ id, sourceX: x, sourceY: y, style, markerEnd }: EdgeProps) {
  const path = `M ${x - 4} ${y + 8} C ${x + 34} ${y + 34}, ${x + 34} ${y - 34}, ${x - 1} ${y - 8}`;
  return <BaseEdge id={id} path={path} {...(style && { style })} {...(markerEnd && { markerEnd })} />;
}

function layoutEdges({ edges }: Drawing, places: readonly Place[]): Edge[] {
  const height = new Map(places.map(({ id, y }) => [id, y]));
  return edges.map(({ source, target, data, conditional }, index) => {
    // backward edges are routed on the right, where they are visible
    const isBack = (height.get(target) ?? 0) <= (height.get(source) ?? 0);
    return {
      id: String(index),
      source,
      target,
      type: source === target ? "loop" : "default",
      markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
      ...(isBack && { sourceHandle: "back", targetHandle: "back" }),
      ...(conditional && { style: { strokeDasharray: "5 4" } }),
      ...(data && { label: data }),
    };
  });
}
