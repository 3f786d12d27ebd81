/**
 * npm run bench -- webhooks [--quick]: 10,000 runs with a webhook whose receiver is dead, beside as many without one.
 * Two servers, asked in turns of 100 runs, so that what else the machine does meets both alike, and after half of
 * them two new ones: processes that do the same differ by some hundredths from start to start. Each pair of turns
 * gives a ratio, and their median has an interval that holds it 95 times of 100. What the machine does besides hardly
 * changes processor time, so that is the second measure: of the whole time, with what the sender does between the turns.
 *
 * Ends with 1 when throughput with webhooks is below 0.95 of that without for all of the interval, or when they take
 * more than 1 / 0.95 of the processor time. Ends before four minutes are over; on a busy machine with fewer runs.
 *
 * Two receivers: one that nobody listens for, and one that takes connections and never answers.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";

import { AgentClient } from "./client.ts";
import { processorTimesOf } from "./processes.ts";
import { removeDirectory, startHeddle, temporaryDirectory } from "./servers.ts";
import { median, medianInterval } from "./statistics.ts";

const quick = process.argv.includes("--quick");
const ROUNDS = quick ? 20 : 100;
const RUNS = 100;
const PAIRS = 2;
const WARM_RUNS = 500;
const LIMIT_MS = 200_000;
const LEAST = 0.95;
const CLIENTS = 16;

const silent = createServer(() => {}).listen(0, "127.0.0.1");
await once(silent, "listening");
const closed = createServer().listen(0, "127.0.0.1");
await once(closed, "listening");
const urlOf = (server: typeof silent) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=t`;
const receivers = [urlOf(silent), urlOf(closed)];
closed.close();

type Cost = ReturnType<typeof processorTimesOf>;

interface Side {
  client: AgentClient;
  threads: string[];
  perSecond: number[];
  /** Milliseconds since the start. */
  processorTimes(): Cost;
}

const spent = (from: Cost, to: Cost): Cost => ({
  server: to.server - from.server,
  hosts: to.hosts - from.hosts,
  postgres: to.postgres - from.postgres,
});

const added = (a: Cost, b: Cost): Cost => ({
  server: a.server + b.server,
  hosts: a.hosts + b.hosts,
  postgres: a.postgres + b.postgres,
});

async function round(side: Side, webhooks: string[], runs: number): Promise<void> {
  let left = runs;
  const started = performance.now();
  await Promise.all(
    side.threads.map(async (thread) => {
      for (let n = left--; n > 0; n = left--) {
        const webhook = webhooks.length > 0 ? { webhook: webhooks[n % webhooks.length] } : {};
        const body = { assistant_id: "echo", input: { text: "hello" }, ...webhook };
        const values = await side.client.post<{ echo?: string }>(`/threads/${thread}/runs/wait`, body);
        if (values.echo !== "hello") throw new Error(`the echo graph answered ${JSON.stringify(values)}`);
      }
    }),
  );
  side.perSecond.push((runs * 1000) / (performance.now() - started));
}

/** Runs on two new servers, by turns. Which of them starts first makes a difference, so it changes from pair to pair. */
async function measurePair(deadFirst: boolean): Promise<{ without: Side; dead: Side; costs: [Cost, Cost] }> {
  const directories = [await temporaryDirectory(), await temporaryDirectory()] as const;
  const servers = [await startHeddle(directories[0]), await startHeddle(directories[1])] as const;
  const sides: Side[] = [];
  try {
    for (const [n, server] of servers.entries()) {
      const client = new AgentClient(server.url);
      const threads = await Promise.all(Array.from({ length: CLIENTS }, () => client.newThread()));
      const postmaster = join(directories[n]!, "data/postgres/data/postmaster.pid");
      const postgres = Number(readFileSync(postmaster, "utf8").split("\n")[0]);
      sides.push({ client, threads, perSecond: [], processorTimes: () => processorTimesOf(server.pid!, postgres) });
    }
    const [without, dead] = (deadFirst ? sides.toReversed() : sides) as [Side, Side];
    // both warm, and the dead receivers known to be
    await round(without, [], WARM_RUNS);
    await round(dead, receivers, WARM_RUNS);
    for (const side of sides) side.perSecond = [];
    const before = [without, dead].map((side) => side.processorTimes());
    const began = performance.now();
    for (let n = 0; n < ROUNDS / PAIRS && performance.now() - began < LIMIT_MS / PAIRS; n++) {
      // who begins changes
      const order = n % 2 === 0 ? [without, dead] : [dead, without];
      for (const side of order) await round(side, side === dead ? receivers : [], RUNS);
    }
    const costs = [without, dead].map((side, n) => spent(before[n]!, side.processorTimes()));
    return { without, dead, costs: costs as [Cost, Cost] };
  } finally {
    await Promise.all(sides.map(({ client }) => client.close()));
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all(directories.map(removeDirectory));
  }
}

try {
  const began = performance.now();
  const measured: Awaited<ReturnType<typeof measurePair>>[] = [];
  for (let n = 0; n < PAIRS; n++) measured.push(await measurePair(n % 2 === 1));
  const seconds = (performance.now() - began) / 1000;
  const speeds = {
    without: measured.flatMap((p) => p.without.perSecond),
    dead: measured.flatMap((p) => p.dead.perSecond),
  };
  const runs = speeds.without.length * RUNS;
  const costs = [0, 1].map((n) => measured.map((p) => p.costs[n]!).reduce(added)) as [Cost, Cost];
  const cost = costs.map((parts) => (parts.server + parts.hosts + parts.postgres) / runs) as [number, number];
  const pairs = speeds.without.map((speed, n) => speeds.dead[n]! / speed);
  const ratio = median(pairs);
  const [low, high] = medianInterval(pairs);
  const costRatio = cost[1] / cost[0];
  const busy = runs < ROUNDS * RUNS ? `; the machine was too busy for ${ROUNDS * RUNS}` : "";
  console.log(
    `${runs} runs each in ${seconds.toFixed(0)} s, by turns of ${RUNS}; load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores${busy}`,
  );
  for (const [name, perSecond, n] of [
    ["without webhooks", speeds.without, 0] as const,
    ["dead receivers", speeds.dead, 1] as const,
  ]) {
    const [server, hosts, postgres] = (["server", "hosts", "postgres"] as const).map((part) =>
      (costs[n][part] / runs).toFixed(2),
    );
    const parts = `server ${server}, hosts ${hosts}, Postgres ${postgres}`;
    console.log(
      `${name.padEnd(18)}${median(perSecond).toFixed(0)} runs/s  ${cost[n].toFixed(2)} ms of processor time a run (${parts})`,
    );
  }
  const verdict = (passed: boolean) => (passed ? "PASS" : "FAIL");
  const fast = high >= LEAST;
  const cheap = costRatio <= 1 / LEAST;
  const decided = ratio >= LEAST || !fast ? "" : ", not decided by so few runs";
  console.log(
    `throughput, ratio ${ratio.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}; >= ${LEAST}: ${verdict(fast)}${decided})`,
  );
  console.log(`processor time, ratio ${costRatio.toFixed(3)} (<= ${(1 / LEAST).toFixed(3)}: ${verdict(cheap)})`);
  process.exitCode = fast && cheap ? 0 : 1;
} finally {
  silent.close();
}
