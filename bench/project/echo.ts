import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ text: Annotation<string>, echo: Annotation<string> });

/** One node that echoes its input: the measured time is that of everything around it. */
export const graph = new StateGraph(State)
  .addNode("answer", (state) => ({ echo: state.text }))
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile();
