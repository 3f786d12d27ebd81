import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";

import { logged } from "./logged.ts";

const State = Annotation.Root({
  draft: Annotation<string>,
  approved: Annotation<string>,
  sent: Annotation<string[]>({ reducer: (all, added) => [...all, ...added], default: () => [] }),
});

export const graph = new StateGraph(State)
  .addNode(
    "write",
    logged(1, () => ({ draft: "a draft" })),
  )
  // not logged: an interrupt leaves the node in the middle, so it has no end
  .addNode("ask", (state) => ({ approved: interrupt<string, string>(`Send ${state.draft}?`) }))
  .addNode(
    "send",
    logged(2, (state: typeof State.State) => ({ sent: [state.draft] })),
  )
  .addEdge(START, "write")
  .addEdge("write", "ask")
  .addEdge("ask", "send")
  .addEdge("send", END)
  .compile();
