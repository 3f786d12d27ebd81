import { expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { selectQueueDepth } from "../system/sql.ts";

const server = await testAgentServer({ N_JOBS_PER_WORKER: "1" });
const { call } = server;

const newThread = async () => (await call("POST", "/threads", {})).json.thread_id as string;
const start = async (thread: string, body: object = {}) => {
  const { status, json } = await call("POST", `/threads/${thread}/runs`, { assistant_id: "slow", input: {}, ...body });
  expect(status).toBe(200);
  return json.run_id as string;
};
const queue = async (query = "") => (await call("GET", `/queue${query}`)).json;

test("shows why each run waits, which server executes which run, and the slots", async () => {
  const [first, second] = [await newThread(), await newThread()];
  const running = await start(first);
  await vi.waitFor(async () => expect((await queue()).counts.running).toBe(1), 20_000);
  const sameThread = await start(first);
  const noSlot = await start(second);
  const behind = await start(second);
  const later = await start(await newThread(), { after_seconds: 3600 });
  const answer = await queue();
  expect(answer.counts).toEqual({ pending: 4, running: 1, waits: 0 });
  expect(answer.slots).toBe(1);
  const reasons = answer.waiting.map((waiter: Record<string, unknown>) => [
    waiter["run_id"],
    waiter["reason"],
    waiter["waits_for"],
  ]);
  expect(reasons).toEqual([
    [sameThread, "thread_busy", running],
    [noSlot, "no_free_slot", null],
    [behind, "behind_another", noSlot],
    [later, "starts_later", null],
  ]);
  expect(answer.running).toMatchObject([
    { run_id: running, graph_id: "slow", attempt: 1, failures: 0, cancelling: false },
  ]);
  expect(answer.servers).toMatchObject([{ is_this: true, is_alive: true, running: 1 }]);
  expect(answer.running[0].server_id).toBe(answer.servers[0].server_id);
  expect(Date.parse(answer.oldest_pending_at)).toBeLessThanOrEqual(Date.now());
  expect((await queue("?limit=2")).waiting).toHaveLength(2);
  expect((await call("GET", "/queue?limit=0")).status).toBe(422);
  for (const run of [running, sameThread]) await call("POST", `/threads/${first}/runs/${run}/cancel`, {});
});

test("shows that no server has a run's graph", async () => {
  // repeated, because a waiting run may be claimed when another is cancelled
  await vi.waitFor(async () => {
    await call("POST", "/runs/cancel", { status: "all" });
    expect((await queue()).counts).toEqual({ pending: 0, running: 0, waits: 0 });
  }, 20_000);
  // occupies the only slot, so that the other run is not claimed and ended for the missing graph
  await start(await newThread());
  await vi.waitFor(async () => expect((await queue()).counts.running).toBe(1), 20_000);
  await server.sql`update servers set graphs = array['another']`;
  const run = await start(await newThread());
  expect((await queue()).waiting).toMatchObject([{ run_id: run, reason: "no_server_has_graph", waits_for: null }]);
});

test("counts a scheduled run's wait from the time when it is due, everywhere", async () => {
  await vi.waitFor(async () => {
    await call("POST", "/runs/cancel", { status: "all" });
    expect((await queue()).counts).toEqual({ pending: 0, running: 0, waits: 0 });
  }, 20_000);
  const run = await start(await newThread(), { after_seconds: 3600 });
  const wait = async () => {
    const answer = await queue(`?run_id=${run}`);
    const [{ oldest_due: oldest }] = [await selectQueueDepth(server.sql)];
    const since = answer.oldest_pending_at && (Date.now() - Date.parse(answer.oldest_pending_at)) / 1000;
    return { shown: answer.waiting[0].waiting_seconds as number, since: since as number | null, oldest };
  };
  expect(await wait()).toEqual({ shown: 0, since: null, oldest: 0 });
  // created an hour before it became due, a minute ago; without a server, so that it stays
  await server.sql`update servers set graphs = array['another']`;
  await server.sql`update runs set created_at = now() - interval '3660 s', available_at = now() - interval '60 s' where run_id = ${run}`;
  for (const seconds of Object.values(await wait())) {
    expect(seconds).toBeGreaterThanOrEqual(59);
    expect(seconds).toBeLessThan(90);
  }
});
