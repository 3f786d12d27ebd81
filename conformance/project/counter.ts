import { Annotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  add: Annotation<number | undefined>(),
  total: Annotation<number>({ reducer: (left, right) => left + right, default: () => 0 }),
  trail: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

/** Adds `add`, then doubles the total. */
export const graph = new StateGraph(State)
  .addNode("increment", ({ add }) => ({ total: add ?? 1, trail: [`+${add ?? 1}`] }))
  .addNode("double", ({ total }) => ({ total, trail: ["*2"] }))
  .addEdge(START, "increment")
  .addEdge("increment", "double")
  .compile();
