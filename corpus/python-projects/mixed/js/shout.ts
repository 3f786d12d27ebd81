import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ ...MessagesAnnotation.spec, shouted: Annotation<string> });

export const graph = new StateGraph(State)
  .addNode("shout", ({ messages }) => ({ shouted: String(messages.at(-1)?.content).toUpperCase() }))
  .addEdge(START, "shout")
  .compile();
