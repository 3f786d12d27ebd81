/**
 * Progress of a run as derived from its stream: active nodes, each step's writes, and the stream's position, from which
 * it can be resumed. A node of a subgraph is named `parent:child`, as in the drawing of a graph.
 */
import type { NodeState } from "../../ui/graph-view/graph-view.tsx";

export interface Frame {
  id?: string | undefined;
  /** `updates`, or with the namespace of a subgraph `updates|node:task|…`. */
  event: string;
  data: unknown;
}

export interface Step {
  /** Id of the task. */
  id: string;
  node: string;
  state: NodeState;
  result?: unknown;
  error?: string | undefined;
}

export interface RunWatch {
  runId: string | null;
  lastEventId: string | undefined;
  attempt: number;
  nodes: ReadonlyMap<string, NodeState>;
  steps: readonly Step[];
  custom: readonly unknown[];
}

export const EMPTY_WATCH: RunWatch = {
  runId: null,
  lastEventId: undefined,
  attempt: 1,
  nodes: new Map(),
  steps: [],
  custom: [],
};

/** Limit on retained steps and custom events; the checkpoints contain the others. */
const HISTORY_LIMIT = 200;

interface TaskFrame {
  id: string;
  name: string;
  result?: unknown;
  error?: string | null;
  interrupts?: unknown[];
}

export function applyFrame(before: RunWatch, { id, event, data }: Frame): RunWatch {
  const watch = id === undefined ? before : { ...before, lastEventId: id };
  const [mode, ...namespace] = event.split("|");
  const path = namespace.map((segment) => segment.split(":")[0]!);
  if (mode === "metadata") {
    const { run_id: runId, attempt = 1 } = data as { run_id: string; attempt?: number };
    if (runId === watch.runId) return { ...watch, attempt };
    return { ...EMPTY_WATCH, runId, attempt, lastEventId: watch.lastEventId };
  }
  if (mode === "tasks") return applyTask(watch, data as TaskFrame, path);
  if (mode === "updates") {
    // runs of other clients may not stream their tasks
    const nodes = new Map(watch.nodes);
    for (const name of Object.keys((data ?? {}) as object)) {
      if (name !== "__interrupt__" && nodes.get(nodeId(path, name)) !== "active") nodes.set(nodeId(path, name), "done");
    }
    return { ...watch, nodes };
  }
  if (mode === "custom") return { ...watch, custom: [...watch.custom, data].slice(-HISTORY_LIMIT) };
  return watch;
}

function applyTask(watch: RunWatch, task: TaskFrame, path: string[]): RunWatch {
  const node = nodeId(path, task.name);
  const isEnd = "result" in task || (task.error ?? null) !== null;
  const waits = (task.interrupts?.length ?? 0) > 0;
  const state: NodeState = !isEnd ? "active" : waits ? "waiting" : (task.error ?? null) !== null ? "failed" : "done";
  const step: Step = { id: task.id, node, state, result: task.result, error: task.error ?? undefined };
  const at = watch.steps.findIndex((known) => known.id === task.id);
  const steps = at === -1 ? [...watch.steps, step].slice(-HISTORY_LIMIT) : watch.steps.with(at, step);
  const nodes = new Map(watch.nodes);
  // several tasks of one node may run concurrently
  const isStillActive = steps.some((other) => other.node === node && other.state === "active");
  nodes.set(node, isStillActive ? "active" : state);
  return { ...watch, steps, nodes };
}

const nodeId = (path: string[], name: string): string => [...path, name].join(":");

/** Ends all activity when the stream is over; in a failed run the active nodes become the failed ones. */
export function settleWatch(watch: RunWatch, hasFailed: boolean): RunWatch {
  const settle = ([node, state]: [string, NodeState]): [string, NodeState][] =>
    state !== "active" ? [[node, state]] : hasFailed ? [[node, "failed"]] : [];
  return {
    ...watch,
    nodes: new Map([...watch.nodes].flatMap(settle)),
    steps: watch.steps.filter(({ state }) => state !== "active"),
  };
}
