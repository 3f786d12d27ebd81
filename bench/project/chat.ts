import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

/** Answers each message with 250 characters: the measured time is that of the conversation around it. */
export const chat = new StateGraph(MessagesAnnotation)
  .addNode("answer", () => ({ messages: [new AIMessage("a".repeat(250))] }))
  .addEdge(START, "answer")
  .addEdge("answer", END);

export const graph = chat.compile();
