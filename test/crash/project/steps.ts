import { setTimeout as sleep } from "node:timers/promises";

import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

import { logged } from "./logged.ts";

const State = Annotation.Root({
  steps: Annotation<number>,
  pause: Annotation<number>,
  /** Numbers of completed steps: each exactly once, in order, whichever process died in between. */
  done: Annotation<number[]>({ reducer: (all, added) => [...all, ...added], default: () => [] }),
});

/** Runs as a single node in a loop: `steps` supersteps of `pause` ms each. */
async function work(state: typeof State.State, config: LangGraphRunnableConfig) {
  const step = state.done.length + 1;
  const once = logged(step, async (state: typeof State.State) => {
    await sleep(state.pause);
    return { done: [step] };
  });
  return once(state, config);
}

export const graph = new StateGraph(State)
  .addNode("work", work)
  .addEdge(START, "work")
  .addConditionalEdges("work", (state) => (state.done.length < state.steps ? "work" : END), ["work", END])
  .compile();
