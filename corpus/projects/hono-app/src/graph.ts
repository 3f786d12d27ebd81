import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { ChatOpenAI } from "@langchain/openai";

/** Calls its own server, as graphs that schedule background runs do. */
const countThreads = async (): Promise<number> => {
  const client = new Client({ apiUrl: `http://localhost:${process.env.PORT}` });
  return (await client.threads.search({ limit: 5 })).length;
};

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }) => {
    const threads = await countThreads();
    const reply = await new ChatOpenAI({ model: "gpt-4.1-mini" }).invoke(messages);
    reply.additional_kwargs = { ...reply.additional_kwargs, threads };
    return { messages: [reply] };
  })
  .addEdge("__start__", "model")
  .compile();
