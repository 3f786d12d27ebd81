import type { RunnableConfig } from "@langchain/core/runnables";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

import { RuleModel } from "../../../conformance/project/model.ts";

const model = new RuleModel({});

/** Answers in its own graph. */
const agent = (name: string) =>
  new StateGraph(MessagesAnnotation)
    .addNode("answer", async ({ messages }, config: RunnableConfig) => {
      const delay = Number(config.configurable?.["delay"] ?? 0);
      return { messages: [await model.invoke([`${name}: ${String(messages[0]?.content)}`], { ...config, delay })] };
    })
    .addEdge(START, "answer")
    .compile();

/** Two agents that answer at the same time. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("baker", agent("baker"))
  .addNode("brewer", agent("brewer"))
  .addEdge(START, "baker")
  .addEdge(START, "brewer")
  .compile();
