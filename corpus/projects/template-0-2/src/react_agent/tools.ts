import { tool } from "@langchain/core/tools";
import { z } from "zod";

const search = tool(async ({ query }) => `results for ${query}`, {
  name: "search",
  description: "Searches the web.",
  schema: z.object({ query: z.string() }),
});

export const TOOLS = [search];
