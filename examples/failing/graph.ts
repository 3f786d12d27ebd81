import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";

const State = Annotation.Root({
  /**
   * `error`: throws a named error. `flaky`: fails `times` times, then succeeds within the node's retries.
   * `loop`: never ends, until the recursion limit. Anything else succeeds.
   */
  mode: Annotation<string>,
  times: Annotation<number>({ reducer: (_old, next) => next, default: () => 2 }),
  attempts: Annotation<number>({ reducer: (_old, next) => next, default: () => 0 }),
  steps: Annotation<string[]>({ reducer: (old, next) => [...old, ...next], default: () => [] }),
});

class LoomJammedError extends Error {
  override name = "LoomJammedError";
}

/** Attempts at a node's task. In memory: a retry happens in the process of the first attempt. */
const attempts = new Map<string, number>();

function weave(state: typeof State.State, config: LangGraphRunnableConfig) {
  if (state.mode === "error") throw new LoomJammedError("The loom is jammed, as you asked.");
  if (state.mode !== "flaky") return { steps: ["woven"] };

  const task = String(config.metadata?.["run_id"] ?? config.runId ?? config.configurable?.["thread_id"]);
  const attempt = (attempts.get(task) ?? 0) + 1;
  attempts.set(task, attempt);
  if (attempt <= state.times) throw new LoomJammedError(`Attempt ${attempt} failed, as you asked.`);
  attempts.delete(task);
  return { attempts: attempt, steps: ["woven"] };
}

export const graph = new StateGraph(State)
  .addNode("prepare", () => ({ steps: ["prepared"] }))
  .addNode("weave", weave, { retryPolicy: { maxAttempts: 4, initialInterval: 50, jitter: false, retryOn: isFlaky } })
  .addEdge(START, "prepare")
  .addEdge("prepare", "weave")
  .addConditionalEdges("weave", (state) => (state.mode === "loop" ? "weave" : END), ["weave", END])
  .compile({ name: "failing" });

function isFlaky(error: Error): boolean {
  return error.message.startsWith("Attempt");
}
