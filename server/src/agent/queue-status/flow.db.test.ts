/** Flow control as declared in langgraph.json, through the API. */
import { fileURLToPath } from "node:url";

import { expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/agent-project/limited.json", import.meta.url));
const { call, agent } = await testAgentServer({}, PROJECT);

const start = async (metadata: object, more: object = {}) => {
  const thread = (await call("POST", "/threads", {})).json.thread_id as string;
  const answer = await call("POST", `/threads/${thread}/runs`, { assistant_id: "slow", input: {}, metadata, ...more });
  return { ...answer, thread, run: answer.json?.run_id as string };
};
const waiting = async (run: string) => (await call("GET", `/queue?run_id=${run}`)).json.waiting[0];
const runStatus = async ({ thread, run }: { thread: string; run: string }) =>
  (await call("GET", `/threads/${thread}/runs/${run}`)).json.status;
const begins = (run: { thread: string; run: string }) =>
  vi.waitFor(async () => expect(await runStatus(run)).toBe("running"), 20_000);

test("a run waits for its customer's other run, says so, and begins when that ends", async () => {
  const first = await start({ customer: "a" });
  await begins(first);
  const second = await start({ customer: "a" });
  const other = await start({ customer: "b" });
  await begins(other);
  await vi.waitFor(async () =>
    expect(await waiting(second.run)).toMatchObject({
      reason: "concurrency_limit",
      limited_by: "metadata.customer=a",
      waits_for: null,
      waiting_seconds: expect.any(Number),
    }),
  );
  expect(await agent.deps.metrics.registry.metrics()).toMatch(/heddle_queue_runs\{state="concurrency_limit"\} 1/);

  await start({ customer: "a" });
  const full = await start({ customer: "a" });
  expect([full.status, full.headers.get("retry-after")]).toEqual([429, "5"]);
  expect(full.text).toMatch(/2 waiting runs with metadata\.customer=a/);
  const { paths } = (await call("GET", "/openapi.json")).json;
  for (const path of ["/runs", "/runs/wait", "/runs/batch", "/threads/{thread_id}/runs/stream"])
    expect(Object.keys(paths[path].post.responses)).toContain("429");

  const cancelledAt = performance.now();
  await call("POST", `/threads/${first.thread}/runs/${first.run}/cancel?wait=true`, {});
  await begins(second);
  expect(performance.now() - cancelledAt).toBeLessThan(5000);
});

test("a run waits for its tool's rate, and says so", async () => {
  await begins(await start({ tool: "search" }));
  const next = await start({ tool: "search" });
  await vi.waitFor(async () =>
    expect(await waiting(next.run)).toMatchObject({ reason: "throttled", limited_by: "metadata.tool=search" }),
  );
});

test("a run and an assistant may name a declared class, and nothing else", async () => {
  const config = (queue: object) => ({ config: { heddle: { queue } } });
  expect((await start({}, config({ priority: "chat" }))).status).toBe(200);
  for (const [queue, reason] of [
    [{ priority: "night" }, /no class "night".*chat, default/],
    [{ concurrency: [] }, /config\.heddle\.queue.*concurrency/],
    [{ expires_after: 0 }, /expires_after/],
  ] as const) {
    const { status, text } = await start({}, config(queue));
    expect([status, text]).toEqual([422, expect.stringMatching(reason)]);
  }
  const assistant = { graph_id: "trail", config: { heddle: { queue: { limit: 1 } } } };
  expect((await call("POST", "/assistants", assistant)).status).toBe(422);
});
