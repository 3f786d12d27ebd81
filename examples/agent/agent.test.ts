import assert from "node:assert/strict";
import { test } from "node:test";

import { MemorySaver } from "@langchain/langgraph";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";

import { calculate } from "./calculate.ts";
import { graph } from "./graph.ts";

async function ask(text: string): Promise<BaseMessage[]> {
  const { messages } = await graph.invoke({ messages: [new HumanMessage(text)] });
  return messages;
}

const types = (messages: BaseMessage[]) => messages.map((message) => message.getType());

test("the agent calls the weather tool and says what it answered", async () => {
  const messages = await ask("What is the weather in Berlin?");
  assert.deepEqual(types(messages), ["human", "ai", "tool", "ai"]);
  const { tool_calls: calls } = messages[1] as unknown as { tool_calls: { name: string; args: object }[] };
  assert.deepEqual(
    calls.map(({ name, args }) => ({ name, args })),
    [{ name: "get_weather", args: { city: "Berlin" } }],
  );
  assert.match(messages.at(-1)!.text, /^In Berlin it is cloudy, 0 to 20 °C/);
});

test("two cities are two tool calls of one message", async () => {
  const messages = await ask("weather in Paris and New York");
  assert.deepEqual(types(messages), ["human", "ai", "tool", "tool", "ai"]);
  assert.match(messages.at(-1)!.text, /Paris.*New York/);
});

test("arithmetic goes through the calculator", async () => {
  assert.equal((await ask("What is (2 + 3) * 4^2?")).at(-1)!.text, "(2 + 3) * 4^2 = 80");
});

test("a later turn knows the name from an earlier one", async () => {
  graph.checkpointer = new MemorySaver();
  const config = { configurable: { thread_id: "one" } };
  await graph.invoke({ messages: [new HumanMessage("Hi, my name is Ada.")] }, config);
  const { messages } = await graph.invoke({ messages: [new HumanMessage("What is my name?")] }, config);
  assert.equal(messages.at(-1)!.text, "Your name is Ada.");
  graph.checkpointer = undefined;
});

test("an assistant's context gives the agent its name", async () => {
  const { messages } = await graph.invoke(
    { messages: [new HumanMessage("Who are you?")] },
    { context: { name: "Penelope" } },
  );
  assert.equal(messages.at(-1)!.text, "I am Penelope.");
});

test("the answer is streamed token by token, tool calls in pieces, with usage at the end", async () => {
  const chunks: BaseMessage[] = [];
  const input = { messages: [new HumanMessage("weather in Tokyo")] };
  for await (const [chunk] of await graph.stream(input, { streamMode: "messages" })) chunks.push(chunk as BaseMessage);
  assert.ok(chunks.filter((chunk) => chunk.getType() === "ai").length > 10);
  const pieces = chunks.flatMap((chunk) => ("tool_call_chunks" in chunk ? (chunk.tool_call_chunks as object[]) : []));
  assert.equal(pieces.length, 3);
  assert.ok(chunks.some((chunk) => "usage_metadata" in chunk && chunk.usage_metadata));
});

test("the same conversation gets the same answer", async () => {
  const [first, other] = [await ask("Hello"), await ask("Hello")];
  assert.equal(first.at(-1)!.text, other.at(-1)!.text);
});

for (const [expression, value] of [
  ["17 * 23", 391],
  ["2^3^2", 512],
  ["-(1 + 2) / 4", -0.75],
  ["1 - 2 - 3", -4],
] as const) {
  test(`${expression} is ${value}`, () => assert.equal(calculate(expression), value));
}

for (const expression of ["1 +", "(1", "1 $ 2", ""]) {
  test(`${JSON.stringify(expression)} is no expression`, () => assert.throws(() => calculate(expression)));
}
