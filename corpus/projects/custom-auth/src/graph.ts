import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { AIMessage } from "@langchain/core/messages";

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("greet", (_state, config) => ({
    messages: [new AIMessage(`Hello ${config.configurable?.langgraph_auth_user?.identity}`)],
  }))
  .addEdge("__start__", "greet")
  .compile();
