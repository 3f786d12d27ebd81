import { Annotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  log: Annotation({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

// Plain JavaScript, not compiled in advance: the server has to compile it.
export const graph = new StateGraph(State)
  .addNode("one", () => ({ log: ["one"] }))
  .addNode("two", () => ({ log: ["two"] }))
  .addNode("three", () => ({ log: ["three"] }))
  .addEdge(START, "one")
  .addEdge("one", "two")
  .addEdge("two", "three");
