import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

import { logged } from "./logged.ts";

/** Answers the last message. Threads of it are long: lists of that length are stored as changes. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode(
    "answer",
    logged(1, ({ messages }: typeof MessagesAnnotation.State) => ({
      messages: [new AIMessage(`answer to ${String(messages.at(-1)?.content)}`)],
    })),
  )
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile();
