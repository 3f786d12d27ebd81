import { interrupt, MessagesAnnotation, StateGraph } from "@langchain/langgraph";

/** Answers, and asks first if told to. */
export const agent = new StateGraph(MessagesAnnotation)
  .addNode("reply", ({ messages }) => {
    const asked = messages.at(-1)?.content === "ask" ? interrupt({ question: "sure?" }) : "fine";
    return { messages: [{ role: "ai", content: JSON.stringify(asked) }] };
  })
  .addEdge("__start__", "reply")
  .addEdge("reply", "__end__")
  .compile();
