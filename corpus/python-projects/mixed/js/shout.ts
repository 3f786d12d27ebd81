import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ ...MessagesAnnotation.spec, shouted: Annotation<string> });

export const graph = new StateGraph(State)
  .addNode("shout", ({ messages }) => ({ shouted: (messages.at(-1)?.text ?? "").toUpperCase() }))
  .addEdge(START, "shout")
  .compile();
