import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

import { logged } from "./logged.ts";

const State = Annotation.Root({ n: Annotation<number>, echoed: Annotation<number> });

export const graph = new StateGraph(State)
  .addNode(
    "answer",
    logged(1, (state: typeof State.State) => ({ echoed: state.n })),
  )
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile();
