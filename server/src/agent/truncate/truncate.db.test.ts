import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const { call } = await testAgentServer({ HEDDLE_INTERNAL_TRUNCATE: "true" });
const count = async (kind: string): Promise<number> => (await call("POST", `/${kind}/count`, {})).json;
const item = () => call("GET", "/store/items?namespace=a&key=b");

async function fill(): Promise<string> {
  const thread = (await call("POST", "/threads", {})).json.thread_id;
  await call("POST", `/threads/${thread}/runs/wait`, { assistant_id: "trail", input: { topic: "a" } });
  await call("POST", "/assistants", { graph_id: "trail", name: "other" });
  await call("PUT", "/store/items", { namespace: ["a"], key: "b", value: { c: 1 } });
  return thread;
}
const truncate = async (body: object) => (await call("POST", "/internal/truncate", body)).status;

test("deletes what is named, and keeps the default assistants", async () => {
  const defaults = await count("assistants");
  const thread = await fill();
  const state = async () => (await call("GET", `/threads/${thread}/state`)).json.values;

  expect(await truncate({})).toBe(200);
  expect([await count("threads"), await count("assistants")]).toEqual([1, defaults + 1]);
  expect((await item()).json.value).toEqual({ c: 1 });

  expect(await truncate({ runs: true, store: true })).toBe(200);
  expect((await call("GET", `/threads/${thread}/runs`)).json).toEqual([]);
  expect((await item()).json).toBeNull();
  expect(await state()).toMatchObject({ topic: "a" });

  expect(await truncate({ checkpointer: true })).toBe(200);
  expect(await state()).toEqual({});
  expect((await call("GET", `/threads/${thread}`)).json).toMatchObject({ status: "idle", values: {} });

  await call("POST", `/threads/${thread}/runs`, { assistant_id: "slow", input: {} });
  expect(await truncate({ runs: true, threads: true, assistants: true, checkpointer: true, store: true })).toBe(200);
  expect([await count("threads"), await count("assistants")]).toEqual([0, defaults]);
});

test("does not exist by default", { timeout: 60_000 }, async () => {
  const ordinary = await testAgentServer();
  expect((await ordinary.call("POST", "/internal/truncate", { threads: true })).status).toBe(404);
});
