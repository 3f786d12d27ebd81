import { setTimeout as sleep } from "node:timers/promises";

import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

import { logged } from "./logged.ts";

const State = Annotation.Root({
  label: Annotation<number>,
  /** Labels of the executed runs: each once, in the order in which the runs were accepted. */
  labels: Annotation<number[]>({ reducer: (all, added) => [...all, ...added], default: () => [] }),
});

export const graph = new StateGraph(State)
  .addNode(
    "count",
    logged(1, async (state: typeof State.State) => {
      await sleep(20);
      return { labels: [state.label] };
    }),
  )
  .addEdge(START, "count")
  .addEdge("count", END)
  .compile();
