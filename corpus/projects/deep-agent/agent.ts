import { ChatAnthropic } from "@langchain/anthropic";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepagents";
import { z } from "zod";

const search = tool(({ query }) => `results for ${query}`, {
  name: "internet_search",
  description: "Searches the internet.",
  schema: z.object({ query: z.string() }),
});

export const agent = createDeepAgent({
  model: new ChatAnthropic({ model: "claude-sonnet-4-5", temperature: 0 }),
  tools: [search],
  systemPrompt: "You research topics.",
  subagents: [
    { name: "critic", description: "Criticises an answer", systemPrompt: "You are a critic.", tools: [search] },
  ],
});
