import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../server/test/db.ts";
import { databaseHost } from "../../test/database-host.ts";
import type { HostProcess } from "../../test/host-process.ts";

const db = await testDatabase();
let host: HostProcess;
beforeAll(async () => {
  host = await databaseHost(db, {
    ask: "./human.ts:ask",
    steps: "./human.ts:steps",
    rooms: "./human.ts:rooms",
    nested: "./human.ts:nested",
    remembering: "./human.ts:remembering",
    trouble: "./trouble.ts:trouble",
    endless: "./trouble.ts:endless",
  });
});
afterAll(() => host.stop());

const empty = { input: { log: [] } };

test("a run ends with the thread's state", async () => {
  const { outcome, result } = await host.run("steps", empty);
  expect(outcome.outcome).toBe("success");
  const of = expect.any(String) as unknown;
  expect(result).toEqual({ values: { log: ["one", "two", "three"] }, next: [], interrupts: {}, of });
});

test("an interrupt waits under its task's id and accepts any answer, false included", async () => {
  for (const answer of ["yes", false, 0, "", { deep: [1] }]) {
    const interrupted = await host.run("ask", empty);
    expect(interrupted.outcome.outcome).toBe("success");
    expect(interrupted.result.next).toEqual(["ask"]);
    const [[taskId, interrupts]] = Object.entries(interrupted.result.interrupts!) as [[string, unknown[]]];
    expect(taskId).toMatch(/^[0-9a-f-]{36}$/);
    expect(interrupts).toMatchObject([{ value: { question: "go on?" } }]);
    const resumed = await host.run("ask", { command: { resume: answer } }, { threadId: interrupted.threadId });
    expect(resumed.outcome.error).toBeUndefined();
    expect(resumed.result).toEqual({
      values: { log: ["prepared", `answer: ${JSON.stringify(answer)}`, "finished"] },
      next: [],
      interrupts: {},
      of: expect.any(String) as unknown,
    });
  }
});

test("a breakpoint leaves a task without interrupts, and input null continues", async () => {
  const stopped = await host.run("steps", { ...empty, interrupt_after: ["one"] });
  expect(stopped.result).toMatchObject({ values: { log: ["one"] }, next: ["two"] });
  expect(Object.values(stopped.result.interrupts!)).toEqual([[]]);
  const rest = await host.run("steps", { input: null, interrupt_before: "*" }, { threadId: stopped.threadId });
  expect(rest.result).toMatchObject({ values: { log: ["one", "two"] }, next: ["three"] });
});

test("an interrupt of a nested subgraph belongs to the thread, and resumes in place", async () => {
  const interrupted = await host.run("nested", empty);
  expect(Object.values(interrupted.result.interrupts!)).toMatchObject([[{ value: "deep" }]]);
  const resumed = await host.run("nested", { command: { resume: "ok" } }, { threadId: interrupted.threadId });
  expect(resumed.result.values).toEqual({ log: ["leaf", "paused: ok"] });
});

test("a subgraph compiled with checkpointer: true remembers its earlier runs", async () => {
  const first = await host.run("remembering", empty);
  const second = await host.run("remembering", empty, { threadId: first.threadId });
  expect(second.result.values).toEqual({ log: ["visit 1", "visit 2"] });
});

test("a command updates the state and goes to nodes and Sends", async () => {
  const start = await host.run("rooms", empty);
  const command = { update: { log: ["told"] }, goto: ["room", { node: "room", input: { name: "blue" } }] };
  const { result } = await host.run("rooms", { command }, { threadId: start.threadId });
  expect(new Set(result.values.log)).toEqual(new Set(["hall", "room blue", "room unnamed", "told"]));
});

test("a run from an older checkpoint branches off there", async () => {
  const { threadId: thread_id } = await host.run("steps", empty);
  const history = (await host.call("state.history", { graph_id: "steps", thread_id, config: {}, limit: 10 })) as {
    next: string[];
    checkpoint_id: string;
  }[];
  const { checkpoint_id } = history.find(({ next }) => next[0] === "two")!;
  const fork = await host.run(
    "steps",
    { input: null, config: { configurable: { checkpoint_id } } },
    { threadId: thread_id },
  );
  expect(fork.result.values).toEqual({ log: ["one", "two", "three"] });
  expect(await host.call("state.history", { graph_id: "steps", thread_id, config: {}, limit: 99 })).toHaveLength(8);
});

test("ignores a checkpoint whose fields are null", async () => {
  const { threadId } = await host.run("steps", { ...empty, interrupt_before: ["two"] });
  const configurable = { checkpoint_id: null, checkpoint_ns: null, checkpoint_map: null, __pregel_read: true };
  const rest = await host.run("steps", { input: null, config: { configurable } }, { threadId });
  expect(rest.result.values).toEqual({ log: ["one", "two", "three"] });
});

test("the graph and the checkpoint receive config, metadata and context", async () => {
  const kwargs = {
    input: { do: "nothing" },
    context: { user: "Ada" },
    config: { metadata: { team: "blue" }, tags: ["t"] },
  };
  const run = await host.run("trouble", kwargs);
  expect(run.result.values.context).toEqual({ user: "Ada" });
  const state = await host.call("state.get", {
    graph_id: "trouble",
    thread_id: run.threadId,
    config: {},
    subgraphs: false,
  });
  expect(state).toMatchObject({ metadata: { team: "blue", run_id: run.runId, graph_id: "trouble", run_attempt: 1 } });
});

test.each([
  ["throw an error", { error: "CustomError", message: "Boo!" }],
  ["throw no error", { error: "Error", message: "an object" }],
])("to %s in a node is the run's error, and its last event", async (deed, error) => {
  const run = await host.run("trouble", { input: { do: deed } });
  expect(run.outcome).toMatchObject({ outcome: "error", error });
  expect(run.events.at(-1)).toEqual({ event: "error", data: error });
  expect(run.result).toMatchObject({ values: { do: deed }, next: ["act"] });
  expect(Object.values(run.result.interrupts!)).toEqual([[]]);
});

test("the recursion limit fails a run with LangGraph's error", async () => {
  const run = await host.run("endless", { input: { do: "" }, config: { recursion_limit: 3 } });
  expect(run.outcome).toMatchObject({ outcome: "error", error: { error: "GraphRecursionError" } });
});

test("input null on an empty thread fails with EmptyInputError", async () => {
  const run = await host.run("steps", { input: null });
  expect(run.outcome.error!.error).toBe("EmptyInputError");
});

test("a state that JSON cannot represent ends the run with a clear error", async () => {
  const run = await host.run("trouble", { input: { do: "cycle" } });
  expect(run.outcome).toMatchObject({
    outcome: "error",
    error: { message: expect.stringMatching(/circular/i) },
  });
});

test.each(["wait, listening", "wait, deaf"])("a cancelled run ends soon and without an error: %s", async (deed) => {
  const run = host.start("trouble", { input: { do: deed }, stream_mode: ["values", "tasks"] });
  await run.seen((event) => event === "tasks");
  const before = performance.now();
  host.cancel(run);
  await run.end;
  expect(performance.now() - before).toBeLessThan(10_000);
  expect(run.outcome).toMatchObject({ outcome: "cancelled", attempt: 1 });
  expect(run.outcome.error).toBeUndefined();
  expect(run.names()).not.toContain("error");
  expect(run.result).toMatchObject({ values: { do: deed }, next: ["act"] });
});

test("executes a hundred runs concurrently", async () => {
  const runs = await Promise.all(
    Array.from({ length: 100 }, () => host.run("trouble", { input: { do: "wait a little" } })),
  );
  expect(runs.filter(({ result }) => result.values.value === "waited")).toHaveLength(100);
});
