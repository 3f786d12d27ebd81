import { tool } from "@langchain/core/tools";
import { getStore, getConfig, getCurrentTaskInput, MessagesAnnotation } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { v4 as uuid } from "uuid";
import { z } from "zod";

const upsertMemory = tool(
  async ({ content }) => {
    const user = getConfig()?.configurable?.userId ?? "nobody";
    await getStore()!.put(["memories", user], uuid(), { content });
    const { messages } = getCurrentTaskInput() as typeof MessagesAnnotation.State;
    return `stored after ${messages.length} messages`;
  },
  { name: "upsertMemory", description: "Stores a memory.", schema: z.object({ content: z.string() }) },
);

export const graph = createReactAgent({
  llm: new ChatOpenAI({ model: "gpt-4.1-mini" }),
  tools: [upsertMemory],
  prompt: "You remember what users tell you.",
});
