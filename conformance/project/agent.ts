import { AIMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { RuleModel } from "./model.ts";

const getWeather = tool(async ({ city }) => `sunny in ${city}`, {
  name: "get_weather",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
});

const model = new RuleModel({});

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }, config: RunnableConfig) => {
    const delay = Number(config.configurable?.["delay"] ?? 0);
    return { messages: [await model.invoke(messages, { ...config, delay })] };
  })
  .addNode("tools", new ToolNode([getWeather]))
  .addEdge(START, "model")
  .addConditionalEdges("model", ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : END), [
    "tools",
    END,
  ])
  .addEdge("tools", "model")
  .compile();
