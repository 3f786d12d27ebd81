/** Threads with long lists over the API: every reader gets what `/state` returns. */
import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { receiver } from "../../../test/receiver.ts";

const hook = await receiver();
const { call, sql } = await testAgentServer();

const long = Array.from({ length: 100 }, (_, n) => `line ${n} ${"x".repeat(200)}`);
const input = { topic: "t", log: long };
const after = (...logs: string[]) => ({ topic: "t", log: [...long, ...logs] });
const ONCE = after("first:t", "second");
const TWICE = after("first:t", "second", "first:t", "second");

const create = async () => (await call("POST", "/threads", { graph_id: "trail" })).json.thread_id as string;
const run = (id: string, kind: string, body: object = {}) =>
  call("POST", `/threads/${id}/runs/${kind}`, { assistant_id: "trail", ...body });
const values = async (id: string) => (await call("GET", `/threads/${id}`)).json.values;
const stored = async (id: string) =>
  (
    await sql`select value_lists, values_of, (select max(checkpoint_id) from checkpoints where thread_id = ${id}) as newest
             from threads where thread_id = ${id}`
  )[0]!;

test("waited, joined and read values are those of the state", async () => {
  const id = await create();
  expect((await run(id, "wait", { input })).json).toEqual(ONCE);
  const { value_lists, values_of, newest } = await stored(id);
  expect(value_lists).toEqual({ log: 102 });
  expect(values_of).toBe(newest);
  expect(await values(id)).toEqual(ONCE);
  expect((await call("GET", `/threads/${id}/state`)).json.values).toEqual(ONCE);
  // no frame has the values
  expect((await run(id, "wait", { input: { topic: "t" }, stream_mode: ["updates"] })).json).toEqual(TWICE);
  const [{ run_id }] = (await call("GET", `/threads/${id}/runs`)).json;
  expect((await call("GET", `/threads/${id}/runs/${run_id}/join`)).json).toEqual(TWICE);
  expect(
    (await call("POST", "/threads/search", { ids: [id], extract: { last: "values.log[-1]" } })).json,
  ).toMatchObject([{ values: TWICE, extracted: { last: "second" } }]);
  expect((await call("POST", "/threads/count", { values: { log: ["first:t"] }, ids: [id] })).json).toBe(1);
});

test("a stored stream's end writes the lists, and a webhook has them", async () => {
  const id = await create();
  const webhook = `${hook.url}/long`;
  await run(id, "stream", { input, stream_resumable: true, stream_mode: ["updates"], webhook });
  expect(await values(id)).toEqual(ONCE);
  expect(await stored(id)).toMatchObject({ value_lists: { log: 102 } });
  await expect.poll(() => hook.received.find(({ path }) => path === "/long")?.json.values).toEqual(ONCE);
});

test("copies, state updates, forks and pruned threads have the values of their state", async () => {
  const id = await create();
  await run(id, "wait", { input });
  const { json: copy } = await call("POST", `/threads/${id}/copy`);
  expect(copy.values).toEqual(ONCE);
  await run(copy.thread_id, "wait", { input: { topic: "t" } });
  expect(await values(copy.thread_id)).toEqual(TWICE);
  expect(await values(id)).toEqual(ONCE);

  await call("POST", `/threads/${id}/state`, { values: { log: ["by hand"] } });
  expect(await values(id)).toEqual(after("first:t", "second", "by hand"));
  const { json: history } = await call("GET", `/threads/${id}/history`);
  const first = history.find((state: { values: { log?: string[] } }) => state.values.log?.length === 101);
  await call("POST", `/threads/${id}/state`, { values: { topic: "fork" }, checkpoint_id: first.checkpoint_id });
  expect(await values(id)).toEqual({ ...after("first:t"), topic: "fork" });
  expect((await call("GET", `/threads/${id}/state`)).json.values).toEqual(await values(id));

  expect((await call("POST", "/threads/prune", { thread_ids: [id], strategy: "keep_latest" })).json.pruned_count).toBe(
    1,
  );
  expect(await values(id)).toEqual({ ...after("first:t"), topic: "fork" });
  await call("DELETE", `/threads/${id}`);
  expect(await sql`select 1 from thread_value_items where thread_id = ${id}`).toHaveLength(0);
});

test("stateless runs answer with long lists, over MCP and A2A too, and leave none", async () => {
  const before = await sql`select 1 from thread_value_items`;
  expect((await call("POST", "/runs/wait", { assistant_id: "trail", input })).json).toEqual(ONCE);
  const updates = { assistant_id: "trail", input, stream_mode: ["updates"] };
  expect((await call("POST", "/runs/wait", updates)).json).toEqual(ONCE);
  const accept = { Accept: "application/json, text/event-stream" };
  const params = { name: "trail", arguments: input };
  const { json: tool } = await call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, accept);
  expect(JSON.parse(tool.result.content[0].text)).toEqual(ONCE);
  expect(await sql`select 1 from thread_value_items`).toHaveLength(before.length);
  const [assistant] = (await call("POST", "/assistants/search", { graph_id: "trail" })).json;
  const message = { kind: "message", role: "user", messageId: "m", parts: [{ kind: "data", data: input }] };
  const rpc = { jsonrpc: "2.0", id: "1", method: "message/send", params: { message } };
  const { json: task } = await call("POST", `/a2a/${assistant.assistant_id}`, rpc);
  expect(task.result.artifacts[0].parts[0].data).toEqual(ONCE);
});
