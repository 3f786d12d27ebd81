/**
 * npm run bench -- webhooks [--quick]: runs with a webhook whose receiver is dead, beside the same runs without one.
 * Two servers, asked in turns, so that what else the machine does meets both. Ends with 1 when throughput with webhooks
 * is less than 0.95 of that without.
 *
 * Two receivers: one that nobody listens for, and one that takes connections and never answers.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";

import { AgentClient } from "./client.ts";
import { processorTimeOf } from "./processes.ts";
import { removeDirectory, startHeddle, temporaryDirectory } from "./servers.ts";
import { median } from "./statistics.ts";

const quick = process.argv.includes("--quick");
const ROUNDS = quick ? 8 : 20;
const RUNS = quick ? 150 : 500;
const CLIENTS = 16;

const silent = createServer(() => {}).listen(0, "127.0.0.1");
await once(silent, "listening");
const closed = createServer().listen(0, "127.0.0.1");
await once(closed, "listening");
const urlOf = (server: typeof silent) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=t`;
const receivers = [urlOf(silent), urlOf(closed)];
closed.close();

interface Side {
  client: AgentClient;
  threads: string[];
  perSecond: number[];
  /** Milliseconds of processor time a run: server, hosts, Postgres. */
  cost: number[];
  processorTime(): number;
}

async function round(side: Side, webhooks: string[], runs: number): Promise<void> {
  let left = runs;
  const before = side.processorTime();
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
  side.cost.push((side.processorTime() - before) / runs);
}

const directories = [await temporaryDirectory(), await temporaryDirectory()] as const;
const servers = [await startHeddle(directories[0]), await startHeddle(directories[1])] as const;
try {
  const sides: Side[] = [];
  for (const [n, server] of servers.entries()) {
    const client = new AgentClient(server.url);
    const threads = await Promise.all(Array.from({ length: CLIENTS }, () => client.newThread()));
    const postmaster = join(directories[n]!, "data/postgres/data/postmaster.pid");
    const roots = [server.pid!, Number(readFileSync(postmaster, "utf8").split("\n")[0])];
    sides.push({ client, threads, perSecond: [], cost: [], processorTime: () => processorTimeOf(roots) });
  }
  const [without, withDead] = sides as [Side, Side];
  // both warm, and the dead receivers known to be
  await round(without, [], RUNS);
  await round(withDead, receivers, RUNS);
  for (const side of sides) Object.assign(side, { perSecond: [], cost: [] });
  for (let n = 0; n < ROUNDS; n++) {
    // who begins changes
    const order = n % 2 === 0 ? [without, withDead] : [withDead, without];
    for (const side of order) await round(side, side === withDead ? receivers : [], RUNS);
  }
  const pairs = without.perSecond.map((speed, n) => withDead.perSecond[n]! / speed);
  const costs = without.cost.map((cost, n) => withDead.cost[n]! / cost);
  console.log(`${ROUNDS * RUNS} runs each, in ${ROUNDS} rounds`);
  console.log(
    `without webhooks      ${median(without.perSecond).toFixed(0)} runs/s  ${median(without.cost).toFixed(2)} ms of processor time a run`,
  );
  console.log(
    `dead receivers        ${median(withDead.perSecond).toFixed(0)} runs/s  ${median(withDead.cost).toFixed(2)} ms`,
  );
  const ratio = median(pairs);
  console.log(
    `throughput, ratio     ${ratio.toFixed(3)} (>= 0.95: ${ratio >= 0.95 ? "PASS" : "FAIL"}); processor time ${median(costs).toFixed(3)}`,
  );
  process.exitCode = ratio >= 0.95 ? 0 : 1;
  for (const { client } of sides) await client.close();
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  await Promise.all(directories.map(removeDirectory));
  silent.close();
}
