import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../server/test/db.ts";
import { databaseHost } from "../../test/database-host.ts";
import type { HostProcess } from "../../test/host-process.ts";
import type { ThreadState } from "./thread-state.ts";

const db = await testDatabase();
let host: HostProcess;
beforeAll(async () => {
  host = await databaseHost(db, {
    steps: "./human.ts:steps",
    nested: "./human.ts:nested",
    fan: "./human.ts:rooms",
    trouble: "./trouble.ts:trouble",
  });
});
afterAll(() => host.stop());

let thread_id: string;
beforeEach(() => void (thread_id = randomUUID()));

const get = async (graph_id: string, more: object = {}) =>
  (await host.call("state.get", { graph_id, thread_id, config: {}, subgraphs: false, ...more })) as ThreadState | null;
const history = async (graph_id: string, more: object = {}) =>
  (await host.call("state.history", { graph_id, thread_id, config: {}, limit: 10, ...more })) as ThreadState[];
const run = (graph_id: string, kwargs: object = { input: { log: [] } }) =>
  host.run(graph_id, kwargs, { threadId: thread_id });

test("a thread that never ran has an empty state and no history", async () => {
  const empty = { values: {}, next: [], tasks: [], created_at: null, checkpoint: null, parent_checkpoint: null };
  expect(await get("steps")).toEqual(empty);
  expect(await history("steps")).toEqual([]);
});

test("a state contains its checkpoint, its parent and its step", async () => {
  const { runId } = await run("steps");
  const state = (await get("steps"))!;
  const [head, parent] = await history("steps");
  expect(state).toEqual(head);
  expect(state).toMatchObject({
    values: { log: ["one", "two", "three"] },
    next: [],
    tasks: [],
    interrupts: [],
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    checkpoint: { thread_id, checkpoint_id: state.checkpoint_id, checkpoint_ns: "", checkpoint_map: null },
    parent_checkpoint: { checkpoint_id: parent!.checkpoint_id },
    parent_checkpoint_id: parent!.checkpoint_id,
    metadata: {
      thread_id,
      checkpoint_id: state.checkpoint_id,
      graph_id: "steps",
      run_id: runId,
      source: "loop",
      step: 3,
      parents: {},
    },
  });
});

test("returns history newest first, each step with its writes", async () => {
  await run("steps");
  const states = await history("steps");
  expect(states.map(({ metadata }) => [metadata!.source, metadata!.step, metadata!.writes])).toEqual([
    ["loop", 3, { three: { log: ["three"] } }],
    ["loop", 2, { two: { log: ["two"] } }],
    ["loop", 1, { one: { log: ["one"] } }],
    ["loop", 0, { __start__: { log: [] } }],
    ["input", -1, {}],
  ]);
  const [newest] = await history("steps", { limit: 1 });
  expect(newest).toEqual(states[0]);
});

test("returns history before a checkpoint, and filters it by metadata", async () => {
  await run("steps");
  const states = await history("steps");
  const before = { checkpoint_id: states[2]!.checkpoint_id! };
  expect(await history("steps", { before })).toEqual(states.slice(3));
  expect(await history("steps", { filter: { source: "input" } })).toEqual(states.slice(4));
});

test("returns the state at a checkpoint, and null for an unknown one", async () => {
  await run("steps");
  const [, , third] = await history("steps");
  expect(await get("steps", { checkpoint: { checkpoint_id: third!.checkpoint_id } })).toMatchObject({
    values: { log: ["one"] },
    next: ["two"],
    checkpoint_id: third!.checkpoint_id,
  });
  expect(await get("steps", { checkpoint: { checkpoint_id: "1f1e5000-0000-6000-8000-000000000000" } })).toBeNull();
});

test("returns a list of writes for a node that ran several times", async () => {
  await run("fan");
  await run("fan", {
    command: {
      goto: [
        { node: "room", input: { name: "a" } },
        { node: "room", input: { name: "b" } },
      ],
    },
  });
  const writes = (await get("fan"))!.metadata!.writes;
  expect(writes).toEqual({ room: [{ log: ["room a"] }, { log: ["room b"] }] });
});

test("returns the error of a failed task as text", async () => {
  await run("trouble", { input: { do: "throw an error" } });
  const state = (await get("trouble"))!;
  expect(state.tasks).toMatchObject([
    { name: "act", path: ["__pregel_pull", "act"], interrupts: [], state: null, checkpoint: null },
  ]);
  expect(JSON.parse(state.tasks[0]!.error!)).toMatchObject({ message: "Boo!" });
});

test("returns a subgraph's checkpoint with its task, or on request its whole state", async () => {
  await run("nested");
  const shallow = (await get("nested"))!;
  const checkpoint_ns = expect.stringMatching(/^outer:[0-9a-f-]{36}$/);
  expect(shallow.tasks).toMatchObject([
    { name: "outer", interrupts: [{ value: "deep" }], state: null, checkpoint: { thread_id, checkpoint_ns } },
  ]);
  const deep = (await get("nested", { subgraphs: true }))!;
  expect(deep.tasks).toMatchObject([
    { checkpoint: null, state: { values: { log: ["leaf"] }, next: ["pause"], checkpoint: { checkpoint_ns } } },
  ]);
  const inside = await get("nested", {
    checkpoint: { checkpoint_ns: (shallow.tasks[0]!.checkpoint as { checkpoint_ns: string }).checkpoint_ns },
  });
  expect(inside).toMatchObject({ values: { log: ["leaf"] }, next: ["pause"] });
});
