import type { StateSnapshot } from "@langchain/langgraph";
import type { RunnableConfig } from "@langchain/core/runnables";
import { WITHOUT_LISTS } from "../checkpoints/showable-lists.ts";
import type { Graph } from "../graphs/graph.ts";
import type { CheckpointRef, HostCalls } from "../../../host-kit/src/host-protocol.ts";
import { TimeSlice } from "../time-slice.ts";
import { toThreadState, taskWrites, type ThreadState } from "./thread-state.ts";

type GetParams = HostCalls["state.get"]["params"];
type HistoryParams = HostCalls["state.history"]["params"];

export async function readState(graph: Graph, params: GetParams): Promise<ThreadState | null> {
  const config = checkpointConfig(params.thread_id, params.checkpoint);
  const snapshot = await graph.getState(config, { subgraphs: params.subgraphs });
  if (snapshot.createdAt === undefined && params.checkpoint?.checkpoint_id) return null;
  return toThreadState(snapshot, params.graph_id, await stepWrites(graph, snapshot));
}

export async function readHistory(graph: Graph, params: HistoryParams): Promise<ThreadState[]> {
  const config = checkpointConfig(params.thread_id, params.checkpoint);
  const before = params.before && checkpointConfig(params.thread_id, params.before);
  const snapshots: StateSnapshot[] = [];
  const slice = new TimeSlice();
  for await (const snapshot of graph.getStateHistory(config, { limit: params.limit, before, filter: params.filter })) {
    snapshots.push(snapshot);
    const pause = slice.next();
    if (pause) await pause;
  }
  const known = new Map(snapshots.map((snapshot) => [snapshot.config.configurable?.checkpoint_id, snapshot]));
  const states = snapshots.map(async (snapshot) => {
    const parent = known.get(snapshot.parentConfig?.configurable?.checkpoint_id);
    return toThreadState(snapshot, params.graph_id, await stepWrites(graph, snapshot, parent));
  });
  return Promise.all(states);
}

/**
 * Returns the writes of a checkpoint's step. LangGraph 1.x no longer stores them with the checkpoint, but the parent's
 * pending writes are the same. This holds only for a step that ran: an input or a manual update also has a parent,
 * whose tasks are not its own.
 */
async function stepWrites(
  graph: Graph,
  snapshot: StateSnapshot,
  parent?: StateSnapshot,
): Promise<Record<string, unknown>> {
  const metadata = snapshot.metadata as { source?: string; writes?: unknown } | undefined;
  if (typeof metadata?.writes === "object" && metadata.writes !== null)
    return metadata.writes as Record<string, unknown>;
  if (metadata?.source !== "loop" || !snapshot.parentConfig) return {};
  return taskWrites(parent ?? (await graph.getState(withoutLists(snapshot.parentConfig as RunnableConfig))));
}

function withoutLists(config: RunnableConfig): RunnableConfig {
  return { ...config, configurable: { ...config.configurable, [WITHOUT_LISTS]: true } };
}

export function checkpointConfig(threadId: string, checkpoint: CheckpointRef = {}): RunnableConfig {
  const { checkpoint_id, checkpoint_ns, checkpoint_map } = checkpoint;
  return {
    configurable: {
      thread_id: threadId,
      checkpoint_ns: checkpoint_ns ?? "",
      ...(checkpoint_id && { checkpoint_id }),
      ...(checkpoint_map && { checkpoint_map }),
    },
  };
}
