import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../server/test/db.ts";
import { databaseHost } from "../../test/database-host.ts";
import type { HostProcess } from "../../test/host-process.ts";
import type { ThreadState } from "./thread-state.ts";

const db = await testDatabase();
let host: HostProcess;
beforeAll(async () => {
  host = await databaseHost(
    db,
    { steps: "./human.ts:steps", echo: "./echo.ts:graph" },
    { HEDDLE_HOST_MAX_VALUE_MB: "1" },
  );
});
afterAll(() => host.stop());

let thread_id: string;
beforeEach(() => void (thread_id = randomUUID()));

const update = (updates: object[], more: object = {}) =>
  host.call("state.update", { graph_id: "steps", thread_id, config: {}, supersteps: [{ updates }], ...more });
const history = async () =>
  (await host.call("state.history", { graph_id: "steps", thread_id, config: {}, limit: 20 })) as ThreadState[];

test("an update passes through the reducers and becomes the head", async () => {
  await host.run("steps", { input: { log: [] } }, { threadId: thread_id });
  const { checkpoint, state } = await update([{ values: { log: ["by hand"] }, as_node: "one" }]);
  expect(state).toMatchObject({ values: { log: ["one", "two", "three", "by hand"] }, next: ["two"] });
  const [head] = await history();
  expect(head).toMatchObject({ checkpoint, metadata: { source: "update", step: 4, graph_id: "steps", writes: {} } });
});

test("a large text of an update is in the thread's new head and in its history", async () => {
  const text = `"large"\n`.repeat(20_000);
  await host.run("steps", { input: { log: [] } }, { threadId: thread_id });
  const { state } = await update([{ values: { log: [text] }, as_node: "one" }]);
  const values = { log: ["one", "two", "three", text] };
  expect(state.values).toEqual(values);
  expect((await history())[0]!.values).toEqual(values);
});

test("an update of an older checkpoint creates a branch", async () => {
  await host.run("steps", { input: { log: [] } }, { threadId: thread_id });
  const older = (await history()).find(({ next }) => next[0] === "two")!;
  const { state } = await update([{ values: { log: ["other"] }, as_node: "two" }], {
    checkpoint: { checkpoint_id: older.checkpoint_id },
  });
  expect(state).toMatchObject({ values: { log: ["one", "other"] }, next: ["three"] });
  expect((await history())[0]!.parent_checkpoint_id).toBe(older.checkpoint_id);
});

test("creates a thread from supersteps", async () => {
  const supersteps = [
    { updates: [{ values: { log: ["given"] }, as_node: "__input__" }] },
    { updates: [{ values: { log: ["given"] }, as_node: "__start__" }] },
    { updates: [{ command: { update: { log: ["one, by hand"] } }, as_node: "one" }] },
  ];
  const { state } = await update([], { supersteps, creates: true });
  expect(state).toMatchObject({ values: { log: ["given", "one, by hand"] }, next: ["two"] });
  const run = await host.run("steps", { input: null }, { threadId: thread_id });
  expect(run.result.values).toEqual({ log: ["given", "one, by hand", "two", "three"] });
});

test("a value above the limit is rejected with 413, or ends its run; both name the setting", async () => {
  const tooLarge = { name: "ValueTooLargeError", message: expect.stringContaining("(HEDDLE_MAX_VALUE_MB)") };
  await host.run("steps", { input: { log: [] } }, { threadId: thread_id });
  const before = await history();
  const large = "x".repeat(2 * 1024 * 1024);
  await expect(update([{ values: { log: [large] }, as_node: "one" }])).rejects.toMatchObject({
    ...tooLarge,
    status: 413,
  });
  const run = await host.run("steps", { input: { log: [large] } }, { threadId: thread_id });
  expect(await run.end).toMatchObject({
    outcome: "error",
    error: { error: "ValueTooLargeError", message: tooLarge.message },
  });
  expect(await history()).toEqual(before);
  const next = await host.run("steps", { input: { log: ["small"] } }, { threadId: thread_id });
  expect(await next.end).toMatchObject({ outcome: "success" });
});

test("a node's null values advance the graph without a write", async () => {
  await host.run("steps", { input: { log: [] }, interrupt_before: ["two"] }, { threadId: thread_id });
  const { state } = await update([{ values: null, as_node: "two" }]);
  expect(state).toMatchObject({ values: { log: ["one"] }, next: ["three"] });
});

test("rejects an unknown node, an unknown checkpoint and invalid messages with a 4xx status", async () => {
  await host.run("steps", { input: { log: [] } }, { threadId: thread_id });
  await expect(update([{ values: {}, as_node: "nobody" }])).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining("nobody"),
  });
  const checkpoint = { checkpoint_id: "1f1e5000-0000-6000-8000-000000000000" };
  await expect(update([{ values: {}, as_node: "one" }], { checkpoint })).rejects.toMatchObject({ status: 404 });
  const messages = {
    graph_id: "echo",
    supersteps: [{ updates: [{ values: { messages: [{ nothing: 1 }] }, as_node: "echo" }] }],
  };
  await expect(update([], messages)).rejects.toMatchObject({ status: 422 });
});
