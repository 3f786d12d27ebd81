import { type LangGraphRunnableConfig, MessagesAnnotation, StateGraph } from "@langchain/langgraph";

/** Replies with the caller's name, team and `x-` headers. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("who", (_state, { configurable = {} }: LangGraphRunnableConfig) => {
    const user = configurable["langgraph_auth_user"] as { identity: string; team: string } | undefined;
    const headers = Object.keys(configurable).filter((key) => key.startsWith("x-"));
    return {
      messages: [{ role: "ai", content: `${user?.identity} of team ${user?.team}, with ${headers.join(" ")}` }],
    };
  })
  .addEdge("__start__", "who")
  .addEdge("who", "__end__")
  .compile();

export const slow = new StateGraph(MessagesAnnotation)
  .addNode("wait", async () => {
    await new Promise((resolve) => setTimeout(resolve, 30_000));
    return {};
  })
  .addEdge("__start__", "wait")
  .addEdge("wait", "__end__")
  .compile();
