import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { END, type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { RuleModel } from "./model.ts";

const model = new RuleModel({});
const Messages = MessagesAnnotation;
type State = typeof Messages.State;

/** Answers the last message token by token, and writes a custom chunk. */
const answer = (from: string) => async (state: State, config: LangGraphRunnableConfig) => {
  config.writer?.({ from });
  return { messages: [await model.invoke(state.messages.slice(-1), config)] };
};

const agent = new StateGraph(Messages).addNode("think", answer("agent")).addEdge(START, "think").compile();

const add = tool(async ({ a, b }) => `${a + b}`, {
  name: "add",
  description: "Adds two numbers",
  schema: z.object({ a: z.number(), b: z.number() }),
});

const calls = [
  { id: "call_1", name: "add", args: { a: 1, b: 2 } },
  { id: "call_2", name: "ask_agent", args: { text: "are you there?" } },
];

const grandchild = new StateGraph(Messages).addNode("deep", answer("grandchild")).addEdge(START, "deep").compile();
const child = new StateGraph(Messages)
  .addNode("reply", answer("child"))
  .addNode("grandchild", grandchild)
  .addNode("call", () => ({ messages: [new AIMessage({ content: "", tool_calls: calls.slice(0, 1) })] }))
  .addNode("tools", new ToolNode([add]))
  .addEdge(START, "reply")
  .addEdge("reply", "grandchild")
  .addEdge("grandchild", "call")
  .addEdge("call", "tools")
  .compile();

const askAgent = tool(
  async ({ text }, config: RunnableConfig) => {
    const { messages } = await agent.invoke({ messages: [new HumanMessage(text)] }, config);
    return String(messages.at(-1)!.content);
  },
  { name: "ask_agent", description: "Asks another agent", schema: z.object({ text: z.string() }) },
);

/** Model and tool calls in the root and in subgraphs, and an agent that one of two parallel tools asks. */
export const graph = new StateGraph(Messages)
  .addNode("lead", answer("root"))
  .addNode("child", child)
  .addNode("call", () => ({ messages: [new AIMessage({ content: "", tool_calls: calls })] }))
  .addNode("tools", new ToolNode([add, askAgent]))
  .addEdge(START, "lead")
  .addEdge("lead", "child")
  .addEdge("child", "call")
  .addEdge("call", "tools")
  .addEdge("tools", END)
  .compile();
