import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  answers: Annotation<Record<string, unknown>>({
    reducer: (left, right) => ({ ...left, ...right }),
    default: () => ({}),
  }),
});

/** Two branches that both stop for a human in the same step. */
export const graph = new StateGraph(State)
  .addNode("left", () => ({ answers: { left: interrupt({ branch: "left" }) } }))
  .addNode("right", () => ({ answers: { right: interrupt({ branch: "right" }) } }))
  .addNode("merge", ({ answers }) => ({ answers: { merged: Object.keys(answers).sort().join("+") } }))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .addEdge(["left", "right"], "merge")
  .addEdge("merge", END)
  .compile();
