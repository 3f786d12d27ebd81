/** Waits for timers and signals in the queue and the metrics. */
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const PROJECT = fileURLToPath(new URL("../../../../examples/langgraph.json", import.meta.url));
const { call, sql } = await testAgentServer({}, PROJECT);

const wait = async (input: object) => {
  const { thread_id: thread } = (await call("POST", "/threads", {})).json;
  await call("POST", `/threads/${thread}/runs/wait`, { assistant_id: "steps", input: { log: [], ...input } });
  const [run] = (await call("GET", `/threads/${thread}/runs`)).json;
  return { thread: thread as string, run: run.run_id as string };
};
const queue = async (query = "") => (await call("GET", `/queue${query}`)).json;
const metric = async (series: string) => {
  const { text } = await call("GET", "/metrics");
  return Number(
    (text as string)
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.split(" ")[1],
  );
};

test("the queue and the metrics show what a thread waits for, until when, and for how long", async () => {
  const later = await wait({ patience: 900 });
  const { thread, run } = await wait({ patience: 600 });
  const { waits, counts, waiting } = await queue();
  expect(counts).toMatchObject({ pending: 0, running: 0, waits: 2 });
  expect(waiting).toEqual([]);
  expect(waits.map((found: { run_id: string }) => found.run_id)).toEqual([run, later.run]);
  const [next] = waits;
  expect(next).toMatchObject({ thread_id: thread, graph_id: "steps", signal: "paid" });
  expect(next.interrupt_id).toMatch(/^[0-9a-f]{32}$/);
  expect((Date.parse(next.until) - Date.now()) / 1000).toBeGreaterThan(550);
  expect((Date.parse(next.until) - Date.now()) / 1000).toBeLessThan(601);
  expect(next.waiting_seconds).toBeCloseTo((Date.now() - Date.parse(next.since)) / 1000, 0);
  expect((await queue(`?run_id=${run}`)).waits).toHaveLength(1);
  expect((await queue("?limit=1")).waits).toHaveLength(1);
  expect([await metric('heddle_waits{for="either"}'), await metric('heddle_waits{for="timer"}')]).toEqual([2, 0]);
  expect(await metric("heddle_waits_late_seconds")).toBe(0);

  await call("POST", `/threads/${later.thread}/signals/paid`, { payload: { amount: 1 } });
  await expect.poll(async () => (await queue()).counts.waits, { timeout: 20_000 }).toBe(1);
  // the metric may be two seconds old
  await expect.poll(() => metric('heddle_waits{for="either"}'), { timeout: 20_000 }).toBe(1);
});

test("a wait that no server ends is late", async () => {
  const { thread } = await wait({ patience: 600 });
  // as if no server had polled for a minute: the lock keeps this one from it
  await sql.begin(async (held) => {
    await held`select 1 from threads where thread_id = ${thread} for update`;
    await sql`update thread_waits set due_at = now() - interval '60 s', ready_at = now() - interval '60 s'
              where thread_id = ${thread}`;
    await expect.poll(() => metric("heddle_waits_late_seconds"), { timeout: 20_000 }).toBeGreaterThanOrEqual(60);
  });
  await expect.poll(() => metric("heddle_waits_late_seconds"), { timeout: 20_000 }).toBe(0);
});
