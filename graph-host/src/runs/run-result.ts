import type { StateSnapshot } from "@langchain/langgraph";
import type { Graph } from "../graphs/graph.ts";
import { nextNodes } from "../graphs/next-nodes.ts";
import type { RunResult } from "../../../host-kit/src/host-protocol.ts";

/** Returns the head of the thread as the thread's row stores it. */
export async function runResult(graph: Graph, threadId: string): Promise<RunResult> {
  return toRunResult(await graph.getState({ configurable: { thread_id: threadId, checkpoint_ns: "" } }));
}

function toRunResult(state: StateSnapshot): RunResult {
  // A thread without any checkpoint has no state to report.
  if (state.createdAt === undefined) return {};
  const interrupts = Object.fromEntries(state.tasks.map((task) => [task.id, task.interrupts]));
  const of: unknown = state.config.configurable?.["checkpoint_id"];
  return { values: state.values, next: nextNodes(state), interrupts, ...(typeof of === "string" && { of }) };
}
