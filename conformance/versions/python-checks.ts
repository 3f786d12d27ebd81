/** Checks of the Python graph host: `name` is the column of the matrix in docs/versions.md. */
import type { Client } from "langgraph-sdk-v1";

import { equal } from "./equal.ts";
import type { TraceReceiver } from "./trace-receiver.ts";

export interface PythonCheck {
  name: string;
  /** Package without which the check is left out. */
  needs?: string;
  run(client: Client, traces: TraceReceiver): Promise<void>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- states of the project's graphs
type State = any;
type Frame = { event: string; data: State };

const question = { messages: [{ role: "user", content: "weather in Rome" }] };

/** Run on conformance/project-python. */
export const PYTHON_CHECKS: PythonCheck[] = [
  {
    name: "runs",
    async run(client) {
      const result = (await client.runs.wait(null, "steps", { input: { log: [] } })) as State;
      equal(result, { log: ["one", "two", "three"] });
      const made = await client.runs.wait(null, "factory", {
        input: {},
        config: { configurable: { flavour: "long" } },
      });
      equal(made, { by: "long", hops: 2 });
      const counted = (await client.runs.wait(null, "counter", { input: { add: 3 } })) as State;
      equal([counted.total, counted.trail], [6, ["+3", "*2"]]);
      const seen = (await client.runs.wait(null, "echo", { input: { input: 1 }, context: { tone: "calm" } })) as State;
      equal([seen.seen.context, seen.seen.greeting], [{ tone: "calm" }, "hello from langgraph.json"]);
      const failed = (await client.runs.wait(null, "failing", { input: {}, raiseError: false })) as State;
      equal(failed.__error__.error, "CustomError");
    },
  },
  {
    name: "streaming",
    async run(client) {
      const streamMode = ["values", "updates", "messages", "messages-tuple", "custom", "events", "debug"] as const;
      const frames = await collect(client, "agent", { input: question, streamMode: [...streamMode] });
      const partial = frames.filter(({ event }) => event === "messages/partial").map(({ data }) => data[0].content);
      equal(partial.at(-1), "The tool says: sunny in Rome");
      equal(new Set(partial).size > 3, true, `tokens arrive one after another: ${partial.join("|")}`);
      const updates = frames.filter(({ event }) => event === "updates").flatMap(({ data }) => Object.keys(data));
      equal(updates, ["model", "tools", "model"]);
      const values = frames.filter(({ event }) => event === "values").at(-1)!.data;
      equal(types(values), ["human", "ai", "tool", "ai"]);
      for (const event of ["messages", "events", "debug"])
        equal(
          frames.some((frame) => frame.event === event),
          true,
          `events ${event} in ${frames.map((frame) => frame.event).join()}`,
        );
      const others = { input: { steps: 2, ms: 1 }, streamMode: ["custom", "tasks", "checkpoints"] as never };
      const slow = await collect(client, "slow", others);
      equal(
        slow.filter(({ event }) => event === "custom").map(({ data }) => data.tick),
        [1, 2],
      );
      for (const event of ["tasks", "checkpoints"])
        equal(
          slow.some((frame) => frame.event === event),
          true,
          `events ${event} in ${slow.map((frame) => frame.event).join()}`,
        );
    },
  },
  {
    name: "interrupts",
    async run(client) {
      const { thread_id: thread } = await client.threads.create();
      const asked = (await client.runs.wait(thread, "approval", { input: { topic: "news" } })) as State;
      equal([asked.topic, asked.__interrupt__[0].value], ["news", { question: "Publish news?" }]);
      const { tasks, next } = await client.threads.getState(thread);
      equal(next, ["ask"]);
      equal(tasks[0]!.interrupts, asked.__interrupt__);
      const result = await client.runs.wait(thread, "approval", { command: { resume: "yes" } });
      equal(result, { topic: "news", answer: "yes", log: ["draft:news", "asked", "published"] });
      // falsy answers
      const other = (await client.threads.create()).thread_id;
      await client.runs.wait(other, "approval", { input: { topic: "no" } });
      equal(((await client.runs.wait(other, "approval", { command: { resume: false } })) as State).answer, false);
      // in both modes
      const modes = { input: { topic: "modes" }, streamMode: ["values", "updates"] };
      const frames = await collect(client, "approval", modes, (await client.threads.create()).thread_id);
      for (const mode of modes.streamMode) {
        const last = frames.findLast(({ event }) => event === mode)!.data;
        equal(last.__interrupt__?.[0].value, { question: "Publish modes?" }, mode);
      }
      // two at once, each with its answer
      const both = (await client.threads.create()).thread_id;
      const two = (await client.runs.wait(both, "parallel", { input: {} })) as State;
      const answers = two.__interrupt__.map(({ id, value }: State) => [id, value.branch.toUpperCase()]);
      const done = (await client.runs.wait(both, "parallel", {
        command: { resume: Object.fromEntries(answers) },
      })) as State;
      equal([done.answers.left, done.answers.right], ["LEFT", "RIGHT"]);
      // static
      const stopped = (await client.threads.create()).thread_id;
      await client.runs.wait(stopped, "steps", { input: { log: [] }, interruptBefore: ["two"] });
      equal((await client.threads.getState(stopped)).next, ["two"]);
      equal(await client.runs.wait(stopped, "steps", { input: null }), { log: ["one", "two", "three"] });
    },
  },
  {
    name: "subgraphs",
    async run(client) {
      const { thread_id: thread } = await client.threads.create();
      const options = { input: { ask: true }, streamMode: "custom" as const, streamSubgraphs: true };
      const frames = await collect(client, "nested", options, thread);
      const path = (event: string) => event.replaceAll(/:[^|]*/g, "");
      equal(
        frames.filter(({ event }) => event.startsWith("custom")).map(({ event, data }) => [path(event), data.from]),
        [
          ["custom", "enter"],
          ["custom|child", "before"],
          ["custom|child|grandchild", "deep"],
        ],
      );
      const state = await client.threads.getState(thread, undefined, { subgraphs: true });
      equal((state.tasks[0]!.state as State).next, ["grandchild"]);
      const result = (await client.runs.wait(thread, "nested", { command: { resume: "up" } })) as State;
      equal(result.log.at(-1), "deep:up");
    },
  },
  {
    name: "state and history",
    async run(client) {
      const { thread_id: thread } = await client.threads.create();
      await client.runs.wait(thread, "steps", { input: { log: [] } });
      await client.threads.updateState(thread, { values: { log: ["written"] }, asNode: "one" });
      const state = await client.threads.getState(thread);
      equal([(state.values as State).log, state.next], [["one", "two", "three", "written"], ["two"]]);
      const history = await client.threads.getHistory(thread);
      equal(history.length, 6);
      const before = history.find(({ next }) => next[0] === "three")!;
      const config = { checkpoint: before.checkpoint as never };
      equal(await client.runs.wait(thread, "steps", { input: null, ...config }), { log: ["one", "two", "three"] });
      const copy = await client.threads.create({
        graphId: "steps",
        supersteps: [{ updates: [{ values: { log: ["given"] }, asNode: "one" }] }],
      });
      equal(((await client.threads.getState(copy.thread_id)).values as State).log, ["given"]);
    },
  },
  {
    name: "schemas and drawings",
    async run(client) {
      const schemasOf = async (graphId: string) => {
        const [assistant] = await client.assistants.search({ graphId });
        return client.assistants.getSchemas(assistant!.assistant_id);
      };
      const schemas = await schemasOf("echo");
      equal(Object.keys(schemas.input_schema!.properties!), ["input", "seen"]);
      equal(Object.keys((schemas as State).context_schema.properties), ["tone", "model"]);
      equal(Object.keys((await schemasOf("counter")).state_schema!.properties!), ["add", "total", "trail"]);
      const [nested] = await client.assistants.search({ graphId: "nested" });
      const drawing = await client.assistants.getGraph(nested!.assistant_id, { xray: true });
      const drawn = drawing.nodes.map(({ id }) => String(id));
      equal(drawn.toSorted(), ["__end__", "__start__", "child:before", "child:grandchild:deep", "enter"]);
      const subgraphs = await client.assistants.getSubgraphs(nested!.assistant_id, { recurse: true });
      equal(Object.keys(subgraphs).toSorted(), ["child", "child|grandchild"]);
    },
  },
  {
    name: "store",
    async run(client) {
      for (const fact of ["tea", "zoo"]) await client.runs.wait(null, "memory", { input: { user: "u", fact } });
      equal((await client.store.getItem(["facts", "u"], "tea"))!.value, { text: "tea" });
      const found = await client.runs.wait(null, "memory", { input: { user: "u", like: "eat" } });
      equal((found as State).known, ["tea"]);
    },
  },
  {
    name: "cancelled runs",
    async run(client) {
      const { thread_id: thread } = await client.threads.create();
      const { run_id: run } = await client.runs.create(thread, "slow", { input: { steps: 100, ms: 50, label: "a" } });
      for (;;) {
        const log = ((await client.threads.getState(thread)).values as State)?.log ?? [];
        if (log.length > 1) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await client.runs.cancel(thread, run, true);
      equal((await client.runs.get(thread, run)).status, "interrupted");
      equal((await client.threads.getState(thread)).next, ["wait"]);
    },
  },
  {
    name: "traces",
    async run(client, traces) {
      const { thread_id: thread } = await client.threads.create();
      const { run_id: run } = await client.runs.create(thread, "agent", { input: question });
      await client.runs.join(thread, run);
      const root = await traces.ended(run);
      equal(types(root.outputs), ["human", "ai", "tool", "ai"]);
      for (const span of ["RuleModel", "get_weather"])
        equal(traces.spans(run).includes(span), true, `${span} in ${traces.spans(run).join()}`);
    },
  },
];

/** Run on conformance/versions/agents. */
export const AGENT_CHECKS: PythonCheck[] = [
  {
    name: "create_agent",
    needs: "langchain",
    async run(client) {
      const frames = await collect(client, "agent", {
        input: question,
        streamMode: ["messages", "updates", "values"],
      });
      const values = frames.filter(({ event }) => event === "values").at(-1)!.data;
      equal(types(values), ["human", "ai", "tool", "ai"]);
      equal(values.messages.at(-1).content, "The tool says: sunny in Rome");
      const partial = frames.filter(({ event }) => event === "messages/partial").map(({ data }) => data[0].content);
      equal(new Set(partial).size > 3, true, `tokens arrive one after another: ${partial.join("|")}`);
      // state of a middleware
      equal(values.calls, 2);

      // the human's approval of a tool call
      const { thread_id: thread } = await client.threads.create();
      const asked = (await client.runs.wait(thread, "guarded", { input: question })) as State;
      const [request] = asked.__interrupt__[0].value.action_requests;
      equal([request.name, request.args], ["get_weather", { city: "Rome" }]);
      const resume = {
        decisions: [{ type: "edit", edited_action: { name: "get_weather", args: { city: "Oslo" } } }],
      };
      const edited = (await client.runs.wait(thread, "guarded", { command: { resume } })) as State;
      equal(String(edited.messages.at(-1).content).includes("sunny in Oslo"), true, edited.messages.at(-1).content);
      const again = { messages: [{ role: "user", content: "thanks" }] };
      const next = (await client.runs.wait(thread, "guarded", { input: again })) as State;
      equal(next.messages.at(-1).content, "You said: thanks");
      const [assistant] = await client.assistants.search({ graphId: "guarded" });
      const schemas = await client.assistants.getSchemas(assistant!.assistant_id);
      equal(Object.keys(schemas.input_schema!.properties!).includes("messages"), true, "input schema");
    },
  },
  {
    name: "deepagents",
    needs: "deepagents",
    async run(client, traces) {
      const { thread_id: thread } = await client.threads.create();
      const ask = (content: string) => ({ input: { messages: [{ role: "user", content }] } });
      const todos = (await client.runs.wait(thread, "deep", ask("plan the trip"))) as State;
      equal(todos.todos, [{ content: "the trip", status: "pending" }]);
      await client.runs.wait(thread, "deep", ask("write notes"));
      const files = ((await client.threads.getState(thread)).values as State).files;
      equal(Object.keys(files), ["/notes.md"]);
      const read = (await client.runs.wait(thread, "deep", ask("read notes"))) as State;
      equal(String(read.messages.at(-1).content).includes("remember the milk"), true, read.messages.at(-1).content);
      // a subagent, with its own tokens in a namespace
      const options = { ...ask("delegate weather in Rome"), streamMode: "messages-tuple", streamSubgraphs: true };
      const frames = await collect(client, "deep", options, thread);
      const text = frames.filter(({ event }) => event.startsWith("messages|")).map(({ data }) => data[0].content);
      equal(text.join("").includes("sunny in Rome"), true, `the subagent's answer in ${text.join("")}`);
      const last = ((await client.threads.getState(thread)).values as State).messages.at(-1);
      equal(String(last.content).includes("sunny in Rome"), true, last.content);
      const [run] = await client.runs.list(thread, { limit: 1 });
      await traces.ended(run!.run_id);
      equal(traces.spans(run!.run_id).includes("task"), true, `task in ${traces.spans(run!.run_id).join()}`);
      // files of the store, shared by threads
      await client.runs.wait(null, "deep", ask("keep secret"));
      const kept = (await client.runs.wait(null, "deep", ask("recall secret"))) as State;
      equal(String(kept.messages.at(-1).content).includes("remember the milk"), true, kept.messages.at(-1).content);
    },
  },
];

async function collect(client: Client, graph: string, options: object, thread: string | null = null): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of client.runs.stream(thread as never, graph, options as never)) frames.push(frame as Frame);
  const error = frames.find(({ event }) => event === "error");
  if (error) throw new Error(`the run failed: ${JSON.stringify(error.data)}`);
  return frames;
}

function types(state: State): string[] {
  return state.messages.map(({ type }: State) => type);
}
