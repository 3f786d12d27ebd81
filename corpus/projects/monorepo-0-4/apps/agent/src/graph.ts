import { Annotation, END, messagesStateReducer, START, StateGraph } from "@langchain/langgraph";
import type { BaseMessage, BaseMessageLike } from "@langchain/core/messages";
import { lastText, VERSION } from "@monorepo/shared";

import { model } from "@/model";

const State = Annotation.Root({
  messages: Annotation<BaseMessage[], BaseMessageLike[]>({ reducer: messagesStateReducer, default: () => [] }),
  heard: Annotation<string>,
});

export const graph = new StateGraph(State)
  .addNode("model", async ({ messages }) => ({
    messages: [await model.invoke(messages)],
    heard: `${VERSION}: ${lastText(messages)}`,
  }))
  .addEdge(START, "model")
  .addEdge("model", END)
  .compile();
