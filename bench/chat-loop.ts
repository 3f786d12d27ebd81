// A conversation in LangGraph itself, with its MemorySaver and without a saver, in a separate process: for each line on
// standard input it runs one turn of each and prints the milliseconds as JSON. Argument: the turns before the first.
import { createInterface } from "node:readline";

import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";

import { chat } from "./project/chat.ts";

const turns = Number(process.argv[2] ?? 0);
const text = "q".repeat(250);
let messages: BaseMessage[] = [];
let chunks = 0;
for (let n = 0; n < turns; n++) {
  messages.push(new HumanMessage({ content: text, id: `q${n}` }), new AIMessage({ content: text, id: `a${n}` }));
}
const saved = chat.compile({ checkpointer: new MemorySaver() });
const bare = chat.compile();
const config = { configurable: { thread_id: "1" }, streamMode: "updates" as const };
if (turns > 0) await saved.updateState(config, { messages }, "answer");

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

createInterface({ input: process.stdin }).on("line", () => void turn());

async function turn(): Promise<void> {
  const input = { messages: [new HumanMessage(text)] };
  const memory = await timed(async () => {
    for await (const chunk of await saved.stream(input, config)) chunks += chunk ? 1 : 0;
  });
  const none = await timed(async () => {
    messages = (await bare.invoke({ messages: [...messages, new HumanMessage(text)] })).messages;
  });
  console.log(JSON.stringify({ memory, none, chunks }));
}
