import {
  compareChannelVersions,
  type BaseCheckpointSaver,
  type CheckpointTuple,
} from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Breakpoints, Graph } from "../graphs/graph.ts";
import { nextNodes } from "../graphs/next-nodes.ts";

/**
 * Where a later attempt of a run starts. `as given`: nothing of the run is on disk yet. `continue`: the thread's head
 * is the run's own checkpoint, resume from there. `stopped`: the run had already stopped, at a breakpoint or an
 * `interrupt()`, and only its end was not reported; resuming would run past it.
 */
export type RetryStart = "as given" | "continue" | "stopped";

export async function retryStart(
  graph: Graph,
  runId: string,
  threadId: string,
  breakpoints: RunBreakpoints,
): Promise<RetryStart> {
  const config = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  const saver = graph.checkpointer as BaseCheckpointSaver;
  const head = await saver.getTuple(config);
  if (head === undefined) return "as given";
  // its input is applied once, whatever else has been written since
  if (checkpointRunId(head) !== runId) return (await hasWritten(saver, config, runId)) ? "continue" : "as given";
  const state = await graph.getState(config);
  const next = nextNodes(state);
  const pending = state.tasks.filter((task) => next.includes(task.name));
  if (pending.length === 0) return "continue";
  if (pending.every((task) => task.interrupts.length > 0)) return "stopped";
  const before = breakpoints.before ?? graph.interruptBefore;
  const after = breakpoints.after ?? graph.interruptAfter;
  if (!anyChannelNewSinceInterrupt(head)) return "continue";
  if (names(before, next)) return "stopped";
  if (after?.length && names(after, await finishedNodes(saver, head))) return "stopped";
  return "continue";
}

async function hasWritten(saver: BaseCheckpointSaver, config: RunnableConfig, runId: string): Promise<boolean> {
  for await (const _ of saver.list(config, { filter: { run_id: runId }, limit: 1 })) return true;
  return false;
}

/** Writes of a step that do not show that a task is done. */
const OF_UNFINISHED = new Set(["__interrupt__", "__resume__", "__error__", "__error_source_node__", "__no_writes__"]);

/**
 * Returns how far earlier attempts of a run came, whose frames a later one does not send again: the id of the thread's
 * newest checkpoint; null when there is progress beyond it, in subgraphs or by tasks of its step; undefined when no
 * node has run.
 */
export async function reachedBefore(graph: Graph, threadId: string): Promise<string | null | undefined> {
  const saver = graph.checkpointer as BaseCheckpointSaver;
  const head = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: "" } });
  if (!head) return undefined;
  if (head.pendingWrites?.some(([, channel]) => !OF_UNFINISHED.has(channel))) return null;
  for await (const newest of saver.list({ configurable: { thread_id: threadId } }, { limit: 1 })) {
    if (newest.checkpoint.id > head.checkpoint.id) return null;
  }
  if (head.metadata?.source === "input") return undefined;
  return (await finishedNodes(saver, head)).every((name) => name.startsWith("__")) ? undefined : head.checkpoint.id;
}

export interface RunBreakpoints {
  before: Breakpoints;
  after: Breakpoints;
}

function checkpointRunId(tuple: CheckpointTuple): unknown {
  return (tuple.metadata as { run_id?: unknown } | undefined)?.run_id;
}

function names(breakpoints: Breakpoints, nodes: string[]): boolean {
  if (breakpoints === "*") return nodes.some((node) => !node.startsWith("__"));
  return nodes.some((node) => breakpoints?.includes(node));
}

/** Repeats LangGraph's own test for a breakpoint: it does not stop twice on the same channel versions. */
function anyChannelNewSinceInterrupt({ checkpoint }: CheckpointTuple): boolean {
  const seen = checkpoint.versions_seen.__interrupt__ ?? {};
  return Object.entries(checkpoint.channel_versions).some(([channel, version]) => {
    const known = seen[channel];
    return known === undefined || compareChannelVersions(version, known) > 0;
  });
}

/**
 * Returns the nodes whose step produced the checkpoint: they have seen channel versions that they had not seen before
 * it.
 */
async function finishedNodes(saver: BaseCheckpointSaver, head: CheckpointTuple): Promise<string[]> {
  const parent = head.parentConfig && (await saver.getTuple(head.parentConfig));
  const before = parent?.checkpoint.versions_seen ?? {};
  const now = head.checkpoint.versions_seen;
  return Object.keys(now).filter((node) => JSON.stringify(now[node]) !== JSON.stringify(before[node]));
}
