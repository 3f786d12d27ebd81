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

/** A subgraph that runs, or ran, within a task. */
export interface SubAgent {
  /** Its namespace: `node:task|…`. */
  id: string;
  name: string;
  /** Task of the graph above it. */
  taskId: string;
  /** Its state after its last step; undefined before the first. */
  values: unknown;
  /** Message that is being streamed. */
  draft: { id: string; text: string } | null;
}

export interface RunWatch {
  runId: string | null;
  lastEventId: string | undefined;
  attempt: number;
  nodes: ReadonlyMap<string, NodeState>;
  steps: readonly Step[];
  custom: readonly unknown[];
  agents: ReadonlyMap<string, SubAgent>;
}

export const EMPTY_WATCH: RunWatch = {
  runId: null,
  lastEventId: undefined,
  attempt: 1,
  nodes: new Map(),
  steps: [],
  custom: [],
  agents: new Map(),
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
  if (namespace.length > 0 && (mode === "values" || mode === "messages")) {
    return applyToAgent(watch, namespace, mode === "values" ? { values: data } : { chunk: data as Chunk });
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

type Chunk = [message: { id?: string; type?: string; content?: unknown }, metadata?: { lc_agent_name?: unknown }];

function applyToAgent(watch: RunWatch, namespace: string[], change: { values: unknown } | { chunk: Chunk }): RunWatch {
  const id = namespace.join("|");
  const [node, taskId] = namespace.at(-1)!.split(":") as [string, string | undefined];
  const known = watch.agents.get(id) ?? { id, name: node, taskId: taskId ?? "", values: undefined, draft: null };
  const agents = new Map(watch.agents);
  if ("values" in change) {
    agents.set(id, { ...known, values: change.values, draft: null });
  } else {
    const [message, metadata] = change.chunk;
    const name = typeof metadata?.lc_agent_name === "string" ? metadata.lc_agent_name : known.name;
    const isReply = typeof message?.content === "string" && /^(AIMessageChunk|ai)$/.test(message.type ?? "");
    const before = known.draft !== null && known.draft.id === message?.id ? known.draft.text : "";
    const draft = isReply ? { id: message.id ?? "", text: before + (message.content as string) } : known.draft;
    agents.set(id, { ...known, name, draft });
  }
  return { ...watch, agents: agents.size > HISTORY_LIMIT ? watch.agents : agents };
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
