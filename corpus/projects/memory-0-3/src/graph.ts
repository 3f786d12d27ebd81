import { tool } from "@langchain/core/tools";
import { type LangGraphRunnableConfig, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { v4 as uuid } from "uuid";
import { z } from "zod";

/** Makes the tools of one run, which store memories of its user. */
const makeTools = (config: LangGraphRunnableConfig) => [
  tool(
    async ({ content }) => {
      await config.store!.put(["memories", config.configurable?.userId], uuid(), { content });
      return `stored for ${config.configurable?.userId}`;
    },
    { name: "upsertMemory", description: "Stores a memory.", schema: z.object({ content: z.string() }) },
  ),
];

async function callAgent({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) {
  const agent = createReactAgent({
    llm: new ChatOpenAI({ model: "gpt-4.1-mini" }),
    tools: makeTools(config),
    prompt: "You remember what users tell you.",
  });
  const result = await agent.invoke({ messages }, config);
  return { messages: result.messages.slice(messages.length) };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("callAgent", callAgent)
  .addEdge("__start__", "callAgent")
  .compile();
