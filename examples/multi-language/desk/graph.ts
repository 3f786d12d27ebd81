import { AIMessage } from "@langchain/core/messages";
import { END, type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";

/** State of the analyst. */
type Analysis = {
  mean: number;
  text: string;
};

/** This server, whose analyst is a graph in Python; elsewhere it would be another deployment's URL and key. */
const client = new Client({
  apiUrl: process.env["ANALYST_URL"] ?? `http://127.0.0.1:${process.env["PORT"]}`,
  apiKey: process.env["ANALYST_API_KEY"] ?? null,
});

async function answer({ messages }: typeof MessagesAnnotation.State, { signal }: LangGraphRunnableConfig) {
  const numbers =
    messages
      .at(-1)!
      .text.match(/-?\d+(\.\d+)?/g)
      ?.map(Number) ?? [];
  if (numbers.length < 2) return { messages: [new AIMessage("Give me at least two numbers.")] };
  // without a thread: that of this run is in use, and belongs to this graph's language
  const { mean, text } = (await client.runs.wait(null, "analyst", { input: { numbers }, signal })) as Analysis;
  return { messages: [new AIMessage(`The mean is ${mean}. ${text}`)] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", answer)
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile({ name: "desk" });
