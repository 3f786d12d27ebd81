import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { UPDATE_TIMEOUT_MS } from "./update-state.ts";

const { call, sql, agent } = await testAgentServer();
const UNKNOWN = "00000000-0000-0000-0000-000000000000";

const create = async (body: object = {}) => (await call("POST", "/threads", body)).json.thread_id as string;
const run = (threadId: string, body: object) => call("POST", `/threads/${threadId}/runs/wait`, body);
const state = async (threadId: string, query = "") => (await call("GET", `/threads/${threadId}/state${query}`)).json;
const update = (threadId: string, body: object) => call("POST", `/threads/${threadId}/state`, body);

test("a thread without runs has the empty state and no history", async () => {
  const id = await create();
  const empty = { values: {}, next: [], tasks: [], created_at: null, checkpoint: null, parent_checkpoint: null };
  expect(await state(id)).toEqual(empty);
  expect((await call("GET", `/threads/${id}/history`)).json).toEqual([]);
  expect((await call("POST", `/threads/${id}/history`, {})).json).toEqual([]);
  expect((await call("GET", `/threads/${id}/state/${UNKNOWN}`)).status).toBe(404);
  const rejected = await update(id, { values: { topic: "t" } });
  expect([rejected.status, rejected.text]).toEqual([400, `Thread ${id} has no graph ID`]);
  // the same before the first run, if the graph is known
  expect(await state(await create({ graph_id: "trail" }))).toMatchObject(empty);
});

test("supersteps have commands as runs have them: an empty one is none, an invalid one is rejected", async () => {
  const created = (update: object) =>
    call("POST", "/threads", { graph_id: "trail", supersteps: [{ updates: [{ as_node: "first", ...update }] }] });
  const log = ["given"];
  for (const update of [
    { values: { log } },
    { values: { log }, command: {} },
    { values: null, command: { update: { log } } },
  ]) {
    expect((await created(update)).json).toMatchObject({ values: { log } });
  }
  expect((await created({ values: null, command: { update: [["log", log]] } })).json).toMatchObject({
    values: { log },
  });
  for (const command of [{ goto: 5 }, { goto: { to: "second" } }, { update: 5 }]) {
    expect(await created({ values: null, command })).toMatchObject({
      status: 422,
      text: expect.stringContaining("command"),
    });
  }
});

test("a state contains its checkpoint, its parent and its documented metadata", async () => {
  const id = await create();
  await run(id, { assistant_id: "trail", input: { topic: "t" } });
  const head = await state(id);
  expect(head).toMatchObject({ values: { topic: "t", log: ["first:t", "second"] }, next: [], tasks: [] });
  expect(head.checkpoint).toMatchObject({ thread_id: id, checkpoint_id: head.checkpoint_id, checkpoint_ns: "" });
  expect(head.metadata).toMatchObject({
    thread_id: id,
    checkpoint_id: head.checkpoint_id,
    graph_id: "trail",
    source: "loop",
    step: 2,
    writes: { second: { log: ["second"] } },
    parents: {},
  });
  const { json: states } = await call("GET", `/threads/${id}/history`);
  expect(states.map((state: { metadata: { step: number } }) => state.metadata.step)).toEqual([2, 1, 0, -1]);
  expect(states[0].parent_checkpoint_id).toBe(states[1].checkpoint_id);
});

test("reads the state at a checkpoint, by path and by body, and returns 404 for an unknown one", async () => {
  const id = await create();
  await run(id, { assistant_id: "trail", input: { topic: "t" } });
  const { json: states } = await call("POST", `/threads/${id}/history`, {});
  const checkpoint_id = states[1].checkpoint_id;
  expect((await state(id, `/${checkpoint_id}`)).values).toEqual(states[1].values);
  const byBody = await call("POST", `/threads/${id}/state/checkpoint`, {
    checkpoint: { checkpoint_id },
    subgraphs: true,
  });
  expect(byBody.json.next).toEqual(["second"]);
  expect((await call("POST", `/threads/${id}/state/checkpoint`, { subgraphs: "false" })).json.next).toEqual([]);
  expect((await call("GET", `/threads/${id}/state/${UNKNOWN}`)).status).toBe(404);
  expect(
    (await call("POST", `/threads/${id}/state/checkpoint`, { checkpoint: { checkpoint_id: UNKNOWN } })).status,
  ).toBe(404);
  expect((await call("POST", `/threads/${id}/state/checkpoint`, { checkpoint: { checkpoint_id: "x" } })).status).toBe(
    422,
  );
});

test("select returns only the requested parts", async () => {
  const id = await create();
  await run(id, { assistant_id: "trail", input: { topic: "t" } });
  expect(await state(id, `?select=${encodeURIComponent('["next","values.topic"]')}`)).toEqual({
    next: [],
    values: { topic: "t" },
  });
  expect(await state(id, "?select=next&select=tasks")).toEqual({ next: [], tasks: [] });
  const byBody = await call("POST", `/threads/${id}/state/checkpoint`, { select: ["values.none"] });
  expect(byBody.json).toEqual({ values: {} });
  expect((await call("GET", `/threads/${id}/state?select=config`)).status).toBe(422);
});

test("history accepts `before` in every form, a limit, and a metadata filter", async () => {
  const id = await create();
  await run(id, { assistant_id: "trail", input: { topic: "t" } });
  const { json: states } = await call("POST", `/threads/${id}/history`, {});
  const steps = async (body: object) =>
    (await call("POST", `/threads/${id}/history`, body)).json.map(
      (item: { metadata: { step: number } }) => item.metadata.step,
    );
  const checkpoint_id = states[1].checkpoint_id;
  expect(await steps({ limit: 2 })).toEqual([2, 1]);
  for (const before of [checkpoint_id, { checkpoint_id }, { configurable: { checkpoint_id, thread_id: id } }]) {
    expect(await steps({ before })).toEqual([0, -1]);
  }
  expect((await call("GET", `/threads/${id}/history?limit=1&before=${checkpoint_id}`)).json).toHaveLength(1);
  expect(await steps({ metadata: { source: "input" } })).toEqual([-1]);
});

test("a manual update runs reducers, moves the head and refreshes the thread's row", async () => {
  const id = await create();
  await run(id, { assistant_id: "ask", input: { topic: "t" } });
  const waiting = (await call("GET", `/threads/${id}`)).json;
  expect(waiting.status).toBe("interrupted");

  const { status, json } = await update(id, { values: { log: ["by hand"] }, as_node: "question" });
  expect(status).toBe(200);
  const head = await state(id);
  expect(json.checkpoint).toMatchObject({ thread_id: id, checkpoint_ns: "", checkpoint_id: head.checkpoint_id });
  expect(head).toMatchObject({ values: { log: ["by hand"] }, next: [], metadata: { source: "update" } });
  const row = (await call("GET", `/threads/${id}`)).json;
  expect(row).toMatchObject({ status: "idle", values: { topic: "t", log: ["by hand"] }, interrupts: {} });
  expect(row.state_updated_at > waiting.state_updated_at).toBe(true);
});

test("an update at an older checkpoint creates a branch, and null values work with as_node", async () => {
  const id = await create();
  await run(id, { assistant_id: "trail", input: { topic: "t" } });
  const { json: states } = await call("POST", `/threads/${id}/history`, {});
  const forked = await update(id, {
    values: { topic: "other" },
    checkpoint: { checkpoint_id: states[1].checkpoint_id },
  });
  expect(forked.status).toBe(200);
  const head = await state(id);
  expect(head.parent_checkpoint_id).toBe(states[1].checkpoint_id);
  expect(head).toMatchObject({ values: { topic: "other", log: ["first:t"] }, next: ["second"] });
  expect((await update(id, { values: null, as_node: "second" })).status).toBe(200);
  expect((await state(id)).next).toEqual([]);
});

test("an update of a busy thread is 409, of an unknown node or checkpoint 4xx, and changes nothing", async () => {
  const id = await create();
  await run(id, { assistant_id: "trail", input: { topic: "t" } });
  const before = await state(id);
  expect((await update(id, { values: { topic: "x" }, as_node: "nowhere" })).status).toBe(422);
  expect((await update(id, { values: { topic: "x" }, checkpoint_id: UNKNOWN })).status).toBe(404);
  expect((await update(id, { values: "text" })).status).toBe(422);
  await call("POST", `/threads/${id}/runs`, { assistant_id: "trail", input: {}, after_seconds: 600 });
  const busy = await update(id, { values: { topic: "x" } });
  expect([busy.status, busy.text]).toEqual([409, "Thread is busy"]);
  expect(await state(id)).toEqual(before);
});

test("Postgres releases a thread that a frozen server has locked, and not one whose update waits for its host", async () => {
  const { sql: own } = agent.deps;
  const [row] = await own`
    select extract(epoch from current_setting('idle_in_transaction_session_timeout')::interval)::int as s`;
  expect(row!["s"]).toBeGreaterThan((2 * UPDATE_TIMEOUT_MS) / 1000);
  expect(row!["s"]).toBeLessThan(60);
});

test("applies concurrent updates one after the other", async () => {
  const id = await create({ graph_id: "trail" });
  const updates = Array.from({ length: 12 }, (_, i) => update(id, { values: { log: [`n${i}`] }, as_node: "second" }));
  expect((await Promise.all(updates)).every(({ status }) => status === 200)).toBe(true);
  expect((await state(id)).values.log).toHaveLength(12);
});

test("supersteps create a thread's state with the thread", async () => {
  const supersteps = [
    { updates: [{ values: { topic: "t" }, as_node: "__start__" }] },
    { updates: [{ values: { log: ["a"] }, as_node: "first" }] },
    { updates: [{ values: { log: ["b"] }, as_node: "second" }] },
  ];
  const { json } = await call("POST", "/threads", { graph_id: "trail", supersteps });
  expect(json).toMatchObject({ status: "idle", values: { topic: "t", log: ["a", "b"] } });
  expect((await state(json.thread_id)).values).toEqual({ topic: "t", log: ["a", "b"] });
  expect((await call("GET", `/threads/${json.thread_id}/history`)).json).toHaveLength(3);
});

test("failing supersteps leave no thread and no checkpoint", async () => {
  const thread_id = "11111111-1111-4111-8111-111111111111";
  const good = { updates: [{ values: { topic: "t" }, as_node: "__start__" }] };
  const bad = { updates: [{ values: { log: ["x"] }, as_node: "nowhere" }] };
  const rejected = async (body: object) => (await call("POST", "/threads", { thread_id, ...body })).status;
  expect(await rejected({ supersteps: [good] })).toBe(400);
  expect(await rejected({ supersteps: [good], graph_id: "unknown" })).toBe(404);
  expect(await rejected({ supersteps: [good], graph_id: "broken" })).toBe(422);
  expect(await rejected({ supersteps: [good, bad], graph_id: "trail" })).toBe(422);
  expect(await rejected({ supersteps: [{ updates: [{ values: {} }] }], graph_id: "trail" })).toBe(422);
  expect(await sql`select 1 from threads where thread_id = ${thread_id}`).toHaveLength(0);
  expect(await sql`select 1 from checkpoints where thread_id = ${thread_id}`).toHaveLength(0);
});
