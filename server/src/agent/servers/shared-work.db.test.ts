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

/**
 * Starts work until it is spread as it should be; returns the spreads if it never is in five times: the servers share one event loop here, and one
 * that a busy machine keeps from claiming within 80 ms loses its share.
 */
async function findUneven(
  work: () => Promise<number[]>,
  isSpread: (counts: number[]) => boolean,
): Promise<string | undefined> {
  const seen: number[][] = [];
  while (seen.length < 5) {
    const counts = await work();
    await cancelAll();
    if (isSpread(counts)) return undefined;
    seen.push(counts);
  }
  return seen.map((counts) => counts.join("/")).join(", ");
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
  const burst = () => start(48).then(() => spread(48));
  // 12, 12 and 24, give or take what starts before the burst is known
  const uneven = await findUneven(burst, ([a, b, c]) => Math.max(a!, b!) <= 16 && Math.min(a!, b!) >= 8 && c! >= 16);
  expect(uneven).toBeUndefined();
});

test("an idle server takes the runs of a busy one, sent one after another", async () => {
  const oneByOne = async () => {
    for (let run = 0; run < 16; run++) await start(1);
    return spread(16);
  };
  const uneven = await findUneven(oneByOne, (counts) => counts[0]! <= 8 && Math.min(...counts) >= 1);
  expect(uneven).toBeUndefined();
});

test("runs that an unresponsive server leaves are claimed by the others", async () => {
  // a server that exists only as a row claims nothing
  await db.sql`insert into servers (server_id, host_name, process, graphs, slots)
    values (gen_random_uuid(), 'frozen', 'x', array['slow'], 1000)`;
  const burst = () => start(24).then(() => spread(24));
  const uneven = await findUneven(burst, (counts) => counts.slice(0, 3).every((running) => running > 0));
  expect(uneven).toBeUndefined();
});
