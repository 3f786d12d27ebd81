import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ text: Annotation<string>, echo: Annotation<string> });

/** One node that answers what it was given: what remains is the cost of everything around it. */
export const graph = new StateGraph(State)
  .addNode("answer", (state) => ({ echo: state.text }))
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile();
