import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Annotation, END, interrupt, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";

const approve = tool(({ what }) => `${what}: ${interrupt({ what })}`, {
  name: "approve",
  description: "Asks a human",
  schema: z.object({ what: z.string() }),
});
const calls = ["tea", "cake"].map((what) => ({ id: `call_${what}`, name: "approve", args: { what } }));

const State = Annotation.Root({ ...MessagesAnnotation.spec, apart: Annotation<boolean>() });
const tools = new ToolNode([approve]);

/** Two tools that each ask a human: both in one task or, with `apart`, each in its own task. */
export const graph = new StateGraph(State)
  .addNode("plan", () => ({ messages: [new AIMessage({ content: "", tool_calls: calls })] }))
  .addNode("tools", ({ messages }: { messages: BaseMessage[] }, config) => tools.invoke({ messages }, config))
  .addNode("close", () => ({ messages: [new AIMessage("closed")] }))
  .addEdge(START, "plan")
  .addConditionalEdges(
    "plan",
    ({ apart }) =>
      apart
        ? calls.map((call) => new Send("tools", { messages: [new AIMessage({ content: "", tool_calls: [call] })] }))
        : "tools",
    ["tools"],
  )
  .addEdge("tools", "close")
  .addEdge("close", END)
  .compile();
