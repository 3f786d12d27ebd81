/** Streams a run with its sub-agents: tsx src/ask.ts URL QUESTION */
import { Client } from "@langchain/langgraph-sdk";

import type { Todo } from "./state.ts";

const [apiUrl, question] = process.argv.slice(2);
if (!apiUrl || !question) throw new Error("Usage: tsx src/ask.ts URL QUESTION");
const client = new Client({ apiUrl });

const mark = ({ status, question: text }: Todo) => `[${status === "done" ? "x" : " "}] ${text}`;
let report = "";
let last = "";
const thread = await client.threads.create();
for await (const { event, data } of client.runs.stream(thread.thread_id, "research", {
  input: { question },
  streamMode: ["values", "custom", "messages-tuple"],
  streamSubgraphs: true,
})) {
  // events of a sub-agent have its namespace behind their name: custom|researcher:…
  const [name, namespace] = event.split("|");
  if (name === "custom" && namespace) {
    const { question: asked, found } = data as unknown as { question: string; found: string | null };
    console.log(`sub-agent found "${found}" for: ${asked}`);
  } else if (name === "values" && !namespace) {
    const { todos = [] } = data as { todos?: Todo[] };
    const shown = todos.map(mark).join("\n");
    if (shown !== last) console.log(shown);
    last = shown;
  } else if (name === "messages" && !namespace) {
    const [chunk, { langgraph_node: node }] = data as unknown as [{ content: string }, { langgraph_node: string }];
    // the report as it is written
    if (node === "synthesize") process.stdout.write(chunk.content);
    if (node === "synthesize") report += chunk.content;
  } else if (name === "error") {
    throw new Error(JSON.stringify(data));
  }
}
if (report === "") throw new Error("The report was not streamed.");
process.stdout.write("\n");
