import { MemorySaver } from "@langchain/langgraph";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { calculate } from "./calculate.ts";
import { graph } from "./graph.ts";

async function ask(text: string): Promise<BaseMessage[]> {
  const { messages } = await graph.invoke({ messages: [new HumanMessage(text)] });
  return messages;
}

test("the agent calls the weather tool and says what it answered", async () => {
  const messages = await ask("What is the weather in Berlin?");
  expect(messages.map((message) => message.getType())).toEqual(["human", "ai", "tool", "ai"]);
  expect(messages[1]).toMatchObject({ tool_calls: [{ name: "get_weather", args: { city: "Berlin" } }] });
  expect(messages.at(-1)!.text).toMatch(/^In Berlin it is cloudy, 0 to 20 °C/);
});

test("two cities are two tool calls of one message", async () => {
  const messages = await ask("weather in Paris and New York");
  expect(messages.map((message) => message.getType())).toEqual(["human", "ai", "tool", "tool", "ai"]);
  expect(messages.at(-1)!.text).toMatch(/Paris.*New York/);
});

test("arithmetic goes through the calculator", async () => {
  expect((await ask("What is (2 + 3) * 4^2?")).at(-1)!.text).toBe("(2 + 3) * 4^2 = 80");
});

test("a later turn knows the name from an earlier one", async () => {
  graph.checkpointer = new MemorySaver();
  const config = { configurable: { thread_id: "one" } };
  await graph.invoke({ messages: [new HumanMessage("Hi, my name is Ada.")] }, config);
  const { messages } = await graph.invoke({ messages: [new HumanMessage("What is my name?")] }, config);
  expect(messages.at(-1)!.text).toBe("Your name is Ada.");
  graph.checkpointer = undefined;
});

test("an assistant's context gives the agent its name", async () => {
  const { messages } = await graph.invoke(
    { messages: [new HumanMessage("Who are you?")] },
    { context: { name: "Penelope" } },
  );
  expect(messages.at(-1)!.text).toBe("I am Penelope.");
});

test("the answer is streamed token by token, tool calls in pieces, with usage at the end", async () => {
  const chunks: BaseMessage[] = [];
  const input = { messages: [new HumanMessage("weather in Tokyo")] };
  for await (const [chunk] of await graph.stream(input, { streamMode: "messages" })) chunks.push(chunk as BaseMessage);
  expect(chunks.filter((chunk) => chunk.getType() === "ai").length).toBeGreaterThan(10);
  const pieces = chunks.flatMap((chunk) => ("tool_call_chunks" in chunk ? (chunk.tool_call_chunks as object[]) : []));
  expect(pieces).toHaveLength(3);
  expect(chunks.some((chunk) => "usage_metadata" in chunk && chunk.usage_metadata)).toBe(true);
});

test("the same conversation gets the same answer", async () => {
  const [first, other] = [await ask("Hello"), await ask("Hello")];
  expect(first.at(-1)!.text).toBe(other.at(-1)!.text);
});

test.each([
  ["17 * 23", 391],
  ["2^3^2", 512],
  ["-(1 + 2) / 4", -0.75],
  ["1 - 2 - 3", -4],
])("%s is %d", (expression, value) => expect(calculate(expression)).toBe(value));

test.each(["1 +", "(1", "1 $ 2", ""])("%j is no expression", (expression) => {
  expect(() => calculate(expression)).toThrow();
});
