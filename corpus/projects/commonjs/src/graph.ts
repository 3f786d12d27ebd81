import { readFileSync } from "node:fs";
import { join } from "node:path";

import { MessagesAnnotation, Annotation, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import count from "./count";

const prompt = readFileSync(join(__dirname, "prompt.txt"), "utf8").trim();
const State = Annotation.Root({ ...MessagesAnnotation.spec, words: Annotation<number>() });

export const graph = new StateGraph(State)
  .addNode("model", async ({ messages }) => {
    const reply = await new ChatOpenAI({ model: "gpt-4o-mini" }).invoke([
      { role: "system", content: prompt },
      ...messages,
    ]);
    return { messages: [reply], words: count.words(String(messages[0]!.content)) };
  })
  .addEdge("__start__", "model")
  .compile();
