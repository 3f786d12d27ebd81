import { Annotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ text: Annotation<string> });

export const graph = new StateGraph(State)
  .addNode("echo", (state) => ({ text: state.text }))
  .addEdge(START, "echo")
  .compile({ name: "echo" });
