/**
 * npm run bench -- sharing [--quick]: bursts of runs that are sent to one of three agent servers on one database.
 *
 * Prints how many runs each server executes, and the times from the first request and from the last acceptance to the last
 * start. Exits with 1 when a server executes fewer than half of an equal share, or when the median of the latter exceeds
 * 100 ms.
 */
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import { AgentClient } from "./client.ts";
import { removeDirectory, type ServerUnderTest, startHeddle, temporaryDirectory } from "./servers.ts";
import { median } from "./statistics.ts";
import { Targets } from "./targets.ts";

const SERVERS = 3;
const ROUNDS = process.argv.includes("--quick") ? 3 : 9;
const BURSTS = [24, 60, 200];
const LIMIT_MS = 100;

interface Queue {
  counts: { pending: number; running: number };
  servers: { running: number }[];
  running: { started_at: string }[];
}

const directory = await temporaryDirectory();
const servers: ServerUnderTest[] = [];
const targets = new Targets();
try {
  for (let n = 0; n < SERVERS; n++) servers.push(await startHeddle(directory));
  const client = new AgentClient(servers[0]!.url);
  const queue = () => client.get<Queue>("/queue?limit=1000");
  await warmUp(servers);
  for (const runs of BURSTS) {
    const spreads: number[][] = [];
    const wholes: number[] = [];
    const delays: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const threads = await Promise.all(Array.from({ length: runs }, () => client.newThread()));
      // heartbeats publish the loads once a second
      await sleep(1200);
      const begun = Date.now();
      const body = { assistant_id: "ticker", input: { frames: 1, pause: 20_000 } };
      await Promise.all(threads.map((id) => client.post(`/threads/${id}/runs`, body)));
      const accepted = Date.now();
      let now = await queue();
      while (now.counts.running < runs) now = await queue();
      const starts = now.running.map((run) => Date.parse(run.started_at));
      now = await queue();
      wholes.push(Math.max(...starts) - begun);
      delays.push(Math.max(0, Math.max(...starts) - accepted));
      spreads.push(now.servers.map(({ running }) => running));
      await client.text("/runs/cancel", { status: "all" });
      while ((now = await queue()).counts.running > 0) await sleep(50);
    }
    const least = Math.min(...spreads.map((spread) => Math.min(...spread)));
    console.log(`${runs} runs: ${spreads.map((spread) => spread.join("+")).join(", ")}`);
    console.log(`  from the first request to the last start ${median(wholes)} ms`);
    targets.report(
      `least on a server, of ${runs}`,
      `${least}`,
      least >= runs / SERVERS / 2,
      `>= ${runs / SERVERS / 2}`,
    );
    const worst = Math.max(...delays);
    const ms = `${median(delays)} ms`;
    targets.report(
      `from the last acceptance until the last of ${runs} starts (worst ${worst} ms)`,
      ms,
      median(delays) <= LIMIT_MS,
      `<= ${LIMIT_MS} ms`,
    );
  }
  console.log(`load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`);
  await client.close();
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  await removeDirectory(directory);
}
process.exitCode = targets.missed ? 1 : 0;

/** Compiles the code of the measured paths. */
async function warmUp(servers: ServerUnderTest[]): Promise<void> {
  for (const { url } of servers) {
    const client = new AgentClient(url);
    const thread = await client.newThread();
    for (let n = 0; n < 300; n++) {
      await client.post(`/threads/${thread}/runs/wait`, { assistant_id: "echo", input: { text: "x" } });
    }
    await client.close();
  }
}
