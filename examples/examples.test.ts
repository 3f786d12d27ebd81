import { existsSync, readFileSync } from "node:fs";
import { HumanMessage } from "@langchain/core/messages";
import { Command, InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { beforeAll, expect, test } from "vitest";
import { graph as approval } from "./approval/graph.ts";
import { graph as echo } from "./echo/graph.ts";
import { graph as failing } from "./failing/graph.ts";
import { graph as memory } from "./memory/graph.ts";
import { graph as nested } from "./nested/graph.ts";
import { graph as slow } from "./slow/graph.ts";

beforeAll(() => {
  for (const graph of [approval, nested]) graph.checkpointer = new MemorySaver();
  memory.store = new InMemoryStore();
});

const thread = (thread_id: string) => ({ configurable: { thread_id } });

test("langgraph.json names graphs that are there, and the agent is called agent", () => {
  const config = JSON.parse(readFileSync(new URL("langgraph.json", import.meta.url), "utf8")) as {
    graphs: Record<string, { path: string }>;
  };
  expect(Object.keys(config.graphs)).toContain("agent");
  const missing = Object.values(config.graphs)
    .map(({ path }) => path.split(":")[0]!)
    .filter((path) => !existsSync(new URL(path, import.meta.url)));
  expect(missing).toEqual([]);
});

test("approval: nothing is sent before a human says so", async () => {
  const waiting = await approval.invoke({ topic: "lunch" }, thread("approve"));
  expect(waiting).toMatchObject({ status: "drafted", __interrupt__: [{ value: { question: "Shall this be sent?" } }] });
  const sent = await approval.invoke(new Command({ resume: "approve" }), thread("approve"));
  expect(sent).toMatchObject({ status: "sent", log: ["drafted", "approved", "sent to ada@example.com"] });
});

test("approval: an edited draft is shown again, a rejected one is not sent", async () => {
  await approval.invoke({ topic: "lunch" }, thread("edit"));
  const shown = await approval.invoke(new Command({ resume: { action: "edit", draft: "Lunch?" } }), thread("edit"));
  expect(shown).toMatchObject({ __interrupt__: [{ value: { draft: "Lunch?" } }] });
  const rejected = await approval.invoke(
    new Command({ resume: { action: "reject", reason: "too short" } }),
    thread("edit"),
  );
  expect(rejected).toMatchObject({ status: "rejected", log: ["drafted", "edited", "rejected: too short"] });
});

test("approval: a static breakpoint stops before sending", async () => {
  await approval.invoke({ topic: "lunch" }, thread("static"));
  const config = { ...thread("static"), interruptBefore: ["send" as const] };
  await approval.invoke(new Command({ resume: "approve" }), config);
  expect((await approval.getState(thread("static"))).next).toEqual(["send"]);
});

test("nested: the innermost graph streams its own events, and a second run counts nothing twice", async () => {
  const events: [string[], unknown][] = [];
  const options = { ...thread("nested"), streamMode: "custom" as const, subgraphs: true as const };
  for await (const [namespace, data] of await nested.stream({ question: "Why?" }, options)) {
    events.push([namespace as string[], data]);
  }
  expect(events).toHaveLength(5);
  expect(events[0]![0].map((part) => part.split(":")[0])).toEqual(["research", "search"]);
  expect(await nested.invoke({ question: "How?" }, thread("nested"))).toMatchObject({ pages: 8 });
  expect((await nested.getState(thread("nested"))).values.findings).toHaveLength(10);
});

test("memory: facts are kept per user, over threads", async () => {
  const say = async (user_id: string, text: string) => {
    const { messages } = await memory.invoke({ messages: [new HumanMessage(text)] }, { configurable: { user_id } });
    return messages.at(-1)!.text;
  };
  await say("ada", "Please remember that I like tea.");
  await say("ada", "remember that I like tea");
  expect(await say("ada", "What do you know?")).toBe("I remember: I like tea.");
  expect(await say("bob", "What do you know?")).toMatch(/^I know nothing/);
  expect(await say("ada", "Forget it")).toBe("I forgot 1 facts.");
});

test("failing: the error keeps its name, a flaky node succeeds by its retries, a loop meets its limit", async () => {
  await expect(failing.invoke({ mode: "error" })).rejects.toMatchObject({ name: "LoomJammedError" });
  expect(await failing.invoke({ mode: "flaky", times: 2 }, thread("flaky"))).toMatchObject({ attempts: 3 });
  await expect(failing.invoke({ mode: "loop" })).rejects.toMatchObject({ name: "GraphRecursionError" });
});

test("slow: progress is streamed, and a cancelled run ends within its step", async () => {
  const progress: unknown[] = [];
  const input = { steps: 2, seconds: 0.1 };
  for await (const event of await slow.stream(input, { streamMode: "custom" })) progress.push(event);
  expect(progress).toHaveLength(20);
  const startedAt = Date.now();
  await expect(slow.invoke({ steps: 1, seconds: 60 }, { signal: AbortSignal.timeout(100) })).rejects.toThrow();
  expect(Date.now() - startedAt).toBeLessThan(5_000);
});

test("echo: returns its input", async () => {
  expect(await echo.invoke({ text: "hello" })).toEqual({ text: "hello" });
});
