/** Servers on one database, all but one of them without requests, as workers are. */
import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";

const db = await testDatabase();
const first = await testAgentServer({ N_JOBS_PER_WORKER: "32" }, undefined, { db });
const others = [
  await testAgentServer({ N_JOBS_PER_WORKER: "32" }, undefined, { db }),
  await testAgentServer({ N_JOBS_PER_WORKER: "64" }, undefined, { db }),
];

const newThread = async () => (await first.call("POST", "/threads", {})).json.thread_id as string;

/** Starts runs of 30 s each by requests to the first server. */
async function start(runs: number): Promise<void> {
  const threads = await Promise.all(Array.from({ length: runs }, newThread));
  const answers = await Promise.all(
    threads.map((id) => first.call("POST", `/threads/${id}/runs`, { assistant_id: "slow", input: {} })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
}

/** Running runs by server, in the order in which the servers started, once this many are running. */
async function spread(total: number): Promise<number[]> {
  let counts: number[] = [];
  await expect
    .poll(async () => {
      const rows = await db.sql<{ running: number }[]>`
        select (select count(*)::int from runs r where r.status = 'running' and r.server_id = s.server_id) as running
        from servers s order by s.started_at`;
      counts = rows.map(({ running }) => running);
      return counts.reduce((sum, running) => sum + running, 0);
    })
    .toBe(total);
  return counts;
}

const cancelAll = async () => {
  await first.call("POST", "/runs/cancel", { status: "all" });
  await spread(0);
};

/** Resolves when each server has read, with a heartbeat, the rows of all servers and their runs. */
async function nextHeartbeats(): Promise<void> {
  const [at] = await db.sql<{ now: string }[]>`select clock_timestamp()::text as now`;
  const all = async () => (await db.sql`select 1 from servers where heartbeat_at <= ${at!.now}::timestamptz`).length;
  await expect.poll(all, { timeout: 10_000 }).toBe(0);
}

test("a burst that is sent to one server is spread by free slots", async () => {
  const areReady = () => [first, ...others].every(({ agent }) => agent.deps.hosts.hasCapacity);
  await expect.poll(areReady, { timeout: 60_000 }).toBe(true);
  await nextHeartbeats();
  await start(48);
  const counts = await spread(48);
  // 12, 12 and 24, give or take what starts before the burst is known
  expect(Math.max(...counts.slice(0, 2))).toBeLessThanOrEqual(16);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(8);
  expect(counts[2]).toBeGreaterThanOrEqual(16);
  await cancelAll();
});

test("an idle server takes the runs of a busy one, sent one after another", async () => {
  await start(48);
  await spread(48);
  await others[1]!.call("POST", "/runs/cancel", { status: "all" });
  await spread(0);
  for (let run = 0; run < 16; run++) await start(1);
  const counts = await spread(16);
  expect(counts[0]).toBeLessThanOrEqual(8);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(1);
  await cancelAll();
});

test("runs that an unresponsive server leaves are claimed by the others", async () => {
  // a server that exists only as a row claims nothing
  await db.sql`insert into servers (server_id, host_name, process, graphs, slots)
    values (gen_random_uuid(), 'frozen', 'x', array['slow'], 1000)`;
  await start(24);
  const counts = await spread(24);
  expect(counts.slice(0, 3).every((running) => running > 0)).toBe(true);
  await cancelAll();
});
