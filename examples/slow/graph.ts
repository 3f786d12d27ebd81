import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { setTimeout as sleep } from "node:timers/promises";

const State = Annotation.Root({
  /** Number of steps; each takes `seconds`. */
  steps: Annotation<number>({ reducer: (_old, next) => next, default: () => 5 }),
  seconds: Annotation<number>({ reducer: (_old, next) => next, default: () => 1 }),
  done: Annotation<number>({ reducer: (_old, next) => next, default: () => 0 }),
});

const PARTS = 10;

/** Runs one step, in parts that report progress. Observes the abort signal, so that a cancelled run ends at once. */
async function work(state: typeof State.State, config: LangGraphRunnableConfig) {
  for (let part = 1; part <= PARTS; part++) {
    await sleep((state.seconds * 1000) / PARTS, undefined, { signal: config.signal });
    config.writer?.({ step: state.done + 1, of: state.steps, progress: part / PARTS });
  }
  return { done: state.done + 1 };
}

export const graph = new StateGraph(State)
  .addNode("begin", () => ({ done: 0 }))
  .addNode("work", work)
  .addEdge(START, "begin")
  .addEdge("begin", "work")
  .addConditionalEdges("work", (state) => (state.done < state.steps ? "work" : END), ["work", END])
  .compile({ name: "slow" });
