import type { StateSnapshot } from "@langchain/langgraph";
import { nextNodes } from "../graphs/next-nodes.ts";

/** Thread state as `GET /threads/{id}/state` returns it, with the additions that its users expect at the top level. */
export interface ThreadState {
  values: unknown;
  next: string[];
  tasks: TaskState[];
  metadata?: Record<string, unknown>;
  created_at: string | null;
  checkpoint: CheckpointAddress | null;
  parent_checkpoint: CheckpointAddress | null;
  checkpoint_id?: string | null;
  parent_checkpoint_id?: string | null;
  interrupts?: unknown[];
}

interface TaskState {
  id: string;
  name: string;
  path: unknown;
  error: string | null;
  interrupts: unknown[];
  checkpoint: object | null;
  state: ThreadState | null;
  result: unknown;
}

export interface CheckpointAddress {
  thread_id: string;
  checkpoint_id: string;
  checkpoint_ns: string;
  checkpoint_map: Record<string, unknown> | null;
}

type Snapshot = StateSnapshot;
type Task = Snapshot["tasks"][number];

/** Converts a snapshot. `writes` holds the writes of the checkpoint's step, by node. */
export function toThreadState(snapshot: Snapshot, graphId: string, writes: Record<string, unknown> = {}): ThreadState {
  const checkpoint = toCheckpoint(snapshot.config);
  const state = {
    values: snapshot.values,
    next: nextNodes(snapshot),
    tasks: snapshot.tasks.map((task) => toTaskState(task, graphId)),
    created_at: snapshot.createdAt ?? null,
  };
  // Nothing has run yet: the contract's empty state has none of the remaining fields.
  if (snapshot.createdAt === undefined || !checkpoint) return { ...state, checkpoint: null, parent_checkpoint: null };
  const parent = toCheckpoint(snapshot.parentConfig);
  return {
    ...state,
    metadata: {
      graph_id: graphId,
      parents: {},
      ...(snapshot.metadata as Record<string, unknown> | undefined),
      thread_id: checkpoint.thread_id,
      checkpoint_id: checkpoint.checkpoint_id,
      writes,
    },
    checkpoint,
    parent_checkpoint: parent,
    checkpoint_id: checkpoint.checkpoint_id,
    parent_checkpoint_id: parent?.checkpoint_id ?? null,
    interrupts: snapshot.tasks.flatMap((task) => task.interrupts),
  };
}

function toTaskState(task: Task, graphId: string): TaskState {
  const state = task.state;
  return {
    id: task.id,
    name: task.name,
    path: task.path,
    // LangGraph stores the error as an object; the JavaScript clients expect its text
    error: task.error == null ? null : JSON.stringify(task.error),
    interrupts: task.interrupts,
    checkpoint: state && "configurable" in state ? (state.configurable ?? null) : null,
    state: state && "values" in state ? toThreadState(state, graphId) : null,
    result: (task as { result?: unknown }).result ?? null,
  };
}

interface Config {
  configurable?: Record<string, unknown> | undefined;
}

/** Returns the checkpoint that a config identifies completely, else null. */
export function toCheckpoint(config: Config | undefined): CheckpointAddress | null {
  const address = toTaskCheckpoint(config);
  return address?.checkpoint_id ? (address as CheckpointAddress) : null;
}

/** Returns the place of a subgraph task's checkpoints; the checkpoint id may be left open. */
export function toTaskCheckpoint(
  config: unknown,
): (Omit<CheckpointAddress, "checkpoint_id"> & { checkpoint_id: string | null }) | null {
  const configurable = (config as Config | undefined)?.configurable;
  if (typeof configurable?.thread_id !== "string") return null;
  return {
    thread_id: configurable.thread_id,
    checkpoint_id: (configurable.checkpoint_id as string | undefined) ?? null,
    checkpoint_ns: (configurable.checkpoint_ns as string | undefined) ?? "",
    checkpoint_map: (configurable.checkpoint_map as Record<string, unknown> | undefined) ?? null,
  };
}

/**
 * Collects the writes of a checkpoint's tasks by node: the `writes` of the checkpoint that follows it. A node that ran
 * several times has a list.
 */
export function taskWrites(parent: Snapshot | undefined): Record<string, unknown> {
  const writes: Record<string, unknown> = {};
  const several = new Set<string>();
  for (const task of parent?.tasks ?? []) {
    const result = (task as { result?: unknown }).result;
    if (result === undefined) continue;
    if (!(task.name in writes)) writes[task.name] = result;
    else if (several.has(task.name)) (writes[task.name] as unknown[]).push(result);
    else {
      several.add(task.name);
      writes[task.name] = [writes[task.name], result];
    }
  }
  return writes;
}
