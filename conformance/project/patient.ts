import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const callsOf = (messages: BaseMessage[]) => (messages.at(-1) as AIMessage).tool_calls ?? [];

/** Its tool does not end before its run is cancelled. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", ({ messages }) => {
    const results = messages.filter((message) => message.getType() === "tool");
    if (results.length > 0) return { messages: [new AIMessage(`results: ${results.length}`)] };
    return { messages: [new AIMessage({ content: "", tool_calls: [{ id: "call_1", name: "wait", args: {} }] })] };
  })
  .addNode("tools", async ({ messages }, { signal }) => {
    await new Promise((resolve, reject) => {
      setTimeout(resolve, 30_000).unref();
      signal?.addEventListener("abort", () => reject(new Error("aborted")));
    });
    return { messages: callsOf(messages).map(({ id }) => new ToolMessage({ content: "", tool_call_id: id! })) };
  })
  .addEdge(START, "model")
  .addConditionalEdges("model", ({ messages }) => (callsOf(messages).length > 0 ? "tools" : END), ["tools", END])
  .addEdge("tools", "model")
  .compile();
