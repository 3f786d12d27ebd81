import { Annotation, Command, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
});

/** Continues where a command leads. */
export const graph = new StateGraph(State)
  .addNode("hall", () => new Command({ goto: "room", update: { log: ["hall"] } }), { ends: ["room", "yard"] })
  .addNode("room", () => ({ log: ["room"] }))
  .addNode("yard", () => ({ log: ["yard"] }))
  .addEdge(START, "hall")
  .compile();
