/** Checks of one project on a server: `name` is the column of the matrix in docs/versions.md. */
import type { Client } from "langgraph-sdk-v1";

import { equal } from "./equal.ts";
import type { TraceReceiver } from "./trace-receiver.ts";

export interface Check {
  name: string;
  run(client: Client, traces: TraceReceiver): Promise<void>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- states of the project's graphs
type State = any;

export const CHECKS: Check[] = [
  {
    name: "tokens",
    async run(client) {
      const events: { event: string; data: State }[] = [];
      const input = { messages: [{ role: "user", content: "hi" }] };
      for await (const chunk of client.runs.stream(null, "chat", { input, streamMode: ["messages", "updates"] }))
        events.push(chunk as never);
      const partial = events.filter(({ event }) => event === "messages/partial").map(({ data }) => data[0].content);
      equal(partial.at(-1), "Hello");
      equal(partial.length > 1, true, "tokens arrive one after another");
      equal(events.find(({ event }) => event === "updates")!.data.model.messages[0].content, "Hello");
    },
  },
  {
    name: "interrupts",
    async run(client) {
      const { thread_id: thread } = await client.threads.create();
      await client.runs.wait(thread, "ask", { input: { log: [] } });
      const { tasks, next } = await client.threads.getState(thread);
      equal(next, ["ask"]);
      equal(tasks[0]!.interrupts[0]!.value, { question: "go on?" });
      const result = (await client.runs.wait(thread, "ask", { command: { resume: { go: true } } })) as State;
      equal(result.log, ['answer: {"go":true}', "finished"]);
      // falsy answers
      const other = (await client.threads.create()).thread_id;
      await client.runs.wait(other, "ask", { input: { log: [] } });
      equal(((await client.runs.wait(other, "ask", { command: { resume: false } })) as State).log[0], "answer: false");
    },
  },
  {
    name: "subgraphs",
    async run(client) {
      const { thread_id: thread } = await client.threads.create();
      const names: string[] = [];
      const options = { input: { log: [] }, streamMode: "values" as const, streamSubgraphs: true };
      for await (const { event } of client.runs.stream(thread, "nested", options)) names.push(event);
      equal(
        names.some((name) => name.startsWith("values|outer:")),
        true,
        `events of the subgraph in ${names.join()}`,
      );
      const state = await client.threads.getState(thread, undefined, { subgraphs: true });
      equal((state.tasks[0]!.state as State).next, ["pause"]);
      const result = (await client.runs.wait(thread, "nested", { command: { resume: "up" } })) as State;
      equal(result.log, ["inner: up"]);
    },
  },
  {
    name: "sends and commands",
    async run(client) {
      const { thread_id: thread } = await client.threads.create();
      await client.runs.wait(thread, "fan", { input: { log: [] } });
      const result = (await client.runs.wait(thread, "fan", { command: { resume: "second" } })) as State;
      equal(result.log, ["split", "one message done", "two message second"]);
      equal(((await client.runs.wait(null, "commands", { input: { log: [] } })) as State).log, ["hall", "room"]);
    },
  },
  {
    name: "store",
    async run(client) {
      const result = (await client.runs.wait(null, "memory", { input: { log: ["tea"] } })) as State;
      equal(result.log.at(-1), "stored tea, found 1");
      equal((await client.store.getItem(["notes"], "last"))!.value, { text: "tea" });
    },
  },
  {
    name: "functional API",
    async run(client) {
      const { thread_id: thread } = await client.threads.create();
      // some versions have no values at an interrupt
      await ended(client.runs.stream(thread, "functional", { input: { n: 4 } }));
      const result = await client.runs.wait(thread, "functional", { command: { resume: "yes" } });
      equal(result, { doubled: 8, answer: "yes" });
    },
  },
  {
    name: "state and history",
    async run(client) {
      const { thread_id: thread } = await client.threads.create();
      await client.runs.wait(thread, "commands", { input: { log: [] } });
      await client.threads.updateState(thread, { values: { log: ["written"] }, asNode: "room" });
      equal(((await client.threads.getState(thread)).values as State).log, ["hall", "room", "written"]);
      const history = await client.threads.getHistory(thread);
      equal(history.length >= 4, true, `${history.length} states`);
      const before = history.find(({ next }) => next[0] === "room")!;
      const config = { checkpoint: before.checkpoint as never };
      equal(((await client.runs.wait(thread, "commands", { input: null, ...config })) as State).log, ["hall", "room"]);
      const copy = await client.threads.create({
        graphId: "commands",
        supersteps: [{ updates: [{ values: { log: ["given"] }, asNode: "hall" }] }],
      });
      equal(((await client.threads.getState(copy.thread_id)).values as State).log, ["given"]);
    },
  },
  {
    name: "cancelled tools",
    async run(client) {
      const { thread_id: thread } = await client.threads.create();
      const input = { messages: [{ role: "user", content: "hi" }] };
      const { run_id: run } = await client.runs.create(thread, "tools", { input });
      for (;;) {
        if ((await client.threads.getState(thread)).next[0] === "tools") break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await client.runs.cancel(thread, run, true);
      const result = (await client.runs.wait(thread, "tools", { input })) as State;
      equal(
        result.messages.map(({ type }: State) => type),
        ["human", "ai", "tool", "human", "ai"],
      );
    },
  },
  {
    name: "schemas and drawings",
    async run(client) {
      const [assistant] = await client.assistants.search({ graphId: "nested" });
      const { input_schema: schema } = await client.assistants.getSchemas(assistant!.assistant_id);
      equal(Object.keys(schema!.properties!), ["log"]);
      const { nodes } = await client.assistants.getGraph(assistant!.assistant_id);
      // old versions do not draw an end that no edge leads to
      equal(
        nodes.map(({ id }) => id).filter((id) => id !== "__end__"),
        ["__start__", "outer"],
      );
      const subgraphs = await client.assistants.getSubgraphs(assistant!.assistant_id);
      equal(Object.keys(subgraphs), ["outer"]);
    },
  },
  {
    name: "traces",
    async run(client, traces) {
      const { thread_id: thread } = await client.threads.create();
      const input = { messages: [{ role: "user", content: "hi" }] };
      const { run_id: run } = await client.runs.create(thread, "chat", { input });
      await client.runs.join(thread, run);
      const root = await traces.ended(run);
      equal((root.outputs as State).messages.length, 2);
      equal(traces.spans(run).includes("FakeListChatModel"), true, `spans ${traces.spans(run).join()}`);
    },
  },
];

async function ended(stream: AsyncIterable<{ event: string }>): Promise<void> {
  for await (const { event } of stream) if (event === "error") throw new Error("the run failed");
}
