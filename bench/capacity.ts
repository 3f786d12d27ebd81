/**
 * npm run bench -- capacity: what one Postgres carries for 1 to 50 agent servers. Runs, accepted, claimed, with
 * checkpoints, stored streams and ends, are executed by the server's own modules in this process, each simulated server
 * with the pools, lease and listener of a real one, without HTTP and graph hosts; so this process and Postgres share the
 * machine. Options: --quick, --servers 1,50, --clients N, --seconds N, --json FILE. Exits with 1 when throughput with
 * the most servers is below half of the best.
 */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";

import { startOwnPostgres } from "../graph-host/src/checkpoints/test/own-postgres.ts";
import { type Carried, carry } from "../server/test/load/simulated-servers.ts";
import { processorTime } from "./processes.ts";
import { median, percentile } from "./statistics.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    quick: { type: "boolean", default: false },
    servers: { type: "string", default: "1,2,5,10,25,50" },
    clients: { type: "string", default: "100" },
    seconds: { type: "string" },
    json: { type: "string" },
  },
});
const counts = options.servers.split(",").map(Number);
const seconds = Number(options.seconds ?? (options.quick ? 2 : 6));
const rounds = options.quick ? 1 : 2;

interface Measured extends Carried {
  servers: number;
  /** Milliseconds of processor time. */
  postgres: number;
  driver: number;
}

const own = await startOwnPostgres({ settings: { max_connections: "1500" } });
const measured: Measured[] = [];
const loadBefore = loadavg()[0]!;
try {
  const address = { uri: own.uri, socket: own.socket };
  for (let round = 0; round < rounds; round++) {
    // up, then down, so that growth of the tables affects all alike
    for (const servers of round % 2 === 0 ? counts : counts.toReversed()) {
      let [postgres, driver] = [0, 0];
      const load = {
        servers,
        clients: Number(options.clients),
        warmUpRuns: options.quick ? 20 : 40,
        ms: seconds * 1000,
      };
      const carried = await carry(address, load, (at) => {
        const sign = at === "start" ? -1 : 1;
        const { user, system } = process.cpuUsage();
        postgres += sign * processorTime([own.pid()]);
        driver += (sign * (user + system)) / 1000;
      });
      measured.push({ ...carried, servers, postgres, driver });
    }
  }
} finally {
  await own.stop();
}

const HEAD = [
  "servers",
  "runs/s",
  "accept",
  "claim",
  "end",
  "CPU",
  "here",
  "flushes",
  "WAL kB",
  "commits",
  "connections",
];
console.log(
  `Node ${process.version}, ${cpus().length} cores, load before ${loadBefore.toFixed(1)}; ${options.clients} callers\n`,
);
console.log(HEAD.map((cell) => cell.padStart(11)).join(" "));
const perSecond = new Map<number, number>();
for (const servers of counts) {
  const of = measured.filter((one) => one.servers === servers);
  const runs = of.reduce((sum, one) => sum + one.runs, 0);
  const per = (part: (one: Measured) => number) => of.reduce((sum, one) => sum + part(one), 0) / runs;
  const times = (kind: "accept" | "claim" | "end") => {
    const all = of.flatMap((one) => one[kind]);
    return `${median(all).toFixed(1)}/${percentile(all, 0.95).toFixed(1)}`;
  };
  perSecond.set(servers, 1000 / per(({ ms }) => ms));
  const cells = [
    String(servers),
    perSecond.get(servers)!.toFixed(0),
    ...(["accept", "claim", "end"] as const).map(times),
    per(({ postgres }) => postgres).toFixed(2),
    per(({ driver }) => driver).toFixed(2),
    per(({ walFlushes }) => walFlushes).toFixed(2),
    (per(({ walBytes }) => walBytes) / 1024).toFixed(1),
    per(({ commits }) => commits).toFixed(2),
    String(Math.max(...of.map(({ connections }) => connections))),
  ];
  console.log(cells.map((cell) => cell.padStart(11)).join(" "));
}
console.log("\nMilliseconds; accept, claim and end: median/p95. CPU: Postgres per run; here: this process per run.");
console.log("Mean number of sessions that wait for each thing:");
for (const servers of counts) {
  const of = measured.filter((one) => one.servers === servers);
  const kinds = new Set(of.flatMap(({ sessions }) => Object.keys(sessions)));
  const mean = (kind: string) => of.reduce((sum, { sessions }) => sum + (sessions[kind] ?? 0), 0) / of.length;
  const sorted = [...kinds].map((kind) => [kind, mean(kind)] as const).sort((a, b) => b[1] - a[1]);
  const shown = sorted.filter(([, n]) => n >= 0.05).map(([kind, n]) => `${kind} ${n.toFixed(1)}`);
  console.log(`${String(servers).padStart(4)}  ${shown.join(", ")}`);
}
const targets = new Targets();
const best = Math.max(...perSecond.values());
const most = perSecond.get(Math.max(...counts))! / best;
targets.report(
  `${Math.max(...counts)} servers, throughput relative to the best`,
  most.toFixed(2),
  most >= 0.5,
  ">= 0.5",
);
if (options.json) await writeFile(options.json, `${JSON.stringify(measured, null, 2)}\n`);
process.exitCode = targets.missed ? 1 : 0;
