/**
 * npm run bench -- tracing [--seconds N] [--runs N] [--host]: waited runs of 16 clients, untraced and traced by turns,
 * each on its own server: throughput, median latency, and CPU time of each process. `--host` measures a graph host
 * alone, with a receiver that stores nothing. Exits with 1 when a target is missed.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { HostProcess } from "../graph-host/test/host-process.ts";
import { AgentClient } from "./client.ts";
import { processorTime, tracedProcessorTimes } from "./processes.ts";
import { removeDirectory, type ServerUnderTest, startHeddle, temporaryDirectory } from "./servers.ts";
import { median } from "./statistics.ts";
import { closedLoop } from "./turns.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    seconds: { type: "string", default: "40" },
    runs: { type: "string", default: "200" },
    host: { type: "boolean", default: false },
  },
});
const LEAST_RATE = 0.85;
const MOST_LATENCY = 1.15;
const MOST_COST_MS = 1;
const LEAST_RUNS = 1000;
/** Traces are sent at most this long after their runs. */
const DELIVERY_MS = 4000;
/** Time in which the trace platform starts. */
const TRACE_START_MS = 60_000;

if (options.host) await measureHost();
else await measureServers();

interface Side {
  name: string;
  client: AgentClient;
  threads: string[];
  rates: number[];
  latencies: number[];
  times(): ReturnType<typeof tracedProcessorTimes>;
}

async function measureServers(): Promise<void> {
  const runs = Number(options.runs);
  const directories = [await temporaryDirectory(), await temporaryDirectory()];
  const servers: ServerUnderTest[] = [];
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => reject(new Error(signal)));
  });
  const measure = async () => {
    const sides: Side[] = [];
    for (const [n, name] of ["untraced", "traced"].entries()) {
      const server = await startHeddle(directories[n]!, { isTraced: name === "traced" });
      servers.push(server);
      sides.push(await startSide(name, server, directories[n]!));
    }
    for (const [n, side] of sides.entries()) {
      await round(side, 3 * runs);
      await requireTracing(servers[n]!.url, side.name === "traced");
    }
    // the trace platform may still be starting
    await sleep(DELIVERY_MS);
    for (const side of sides) [side.rates, side.latencies] = [[], []];
    const before = sides.map((side) => side.times());
    const startedAt = performance.now();
    let rounds = 0;
    for (; performance.now() - startedAt < Number(options.seconds) * 1000; rounds++) {
      for (const side of rounds % 2 ? sides.toReversed() : sides) await round(side, runs);
    }
    await sleep(DELIVERY_MS);
    const costs = sides.map((side, n) => perRun(side.times(), before[n]!, rounds * runs));
    if (costs[1]!.trace === 0) throw new Error("the trace platform received nothing");
    report(sides as [Side, Side], costs, rounds * runs);
    for (const side of sides) await side.client.close();
  };
  try {
    await Promise.race([measure(), interrupted]);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all(directories.map(removeDirectory));
  }
}

async function startSide(name: string, server: ServerUnderTest, directory: string): Promise<Side> {
  const client = new AgentClient(server.url);
  const threads = await Promise.all(Array.from({ length: 16 }, () => client.newThread()));
  const postmaster = Number(readFileSync(join(directory, "data/postgres/data/postmaster.pid"), "utf8").split("\n")[0]);
  const times = () => tracedProcessorTimes(server.pid!, postmaster);
  return { name, client, threads, rates: [], latencies: [], times };
}

/** Throws when a server does not trace, or traces, against expectation. */
async function requireTracing(url: string, isTraced: boolean): Promise<void> {
  const until = performance.now() + TRACE_START_MS;
  for (;;) {
    const { flags } = (await (await fetch(`${url}/info`)).json()) as { flags: { langsmith_tracing_replicas: boolean } };
    if (flags.langsmith_tracing_replicas === isTraced) return;
    if (performance.now() > until)
      throw new Error(`a server that should ${isTraced ? "" : "not "}trace does otherwise`);
    await sleep(200);
  }
}

async function round(side: Side, runs: number): Promise<void> {
  const started = performance.now();
  await closedLoop(side.threads, runs, async (thread) => {
    const sent = performance.now();
    await side.client.echo(thread);
    side.latencies.push(performance.now() - sent);
  });
  side.rates.push((runs * 1000) / (performance.now() - started));
}

type Costs = ReturnType<Side["times"]>;

function perRun(after: Costs, before: Costs, runs: number): Costs {
  const cost = (part: keyof Costs) => (after[part] - before[part]) / runs;
  return { server: cost("server"), hosts: cost("hosts"), trace: cost("trace"), postgres: cost("postgres") };
}

function report([untraced, traced]: [Side, Side], costs: Costs[], runs: number): void {
  console.log(`${runs} runs each, by turns of ${options.runs}; load ${loadavg()[0]!.toFixed(1)}`);
  for (const [n, side] of [untraced, traced].entries()) {
    const { server, hosts, trace, postgres } = costs[n]!;
    const total = server + hosts + trace + postgres;
    console.log(
      `${side.name.padEnd(10)}${median(side.rates).toFixed(0)} runs/s, median ${median(side.latencies).toFixed(1)} ms; ` +
        `CPU time per run ${total.toFixed(2)} ms (server ${server.toFixed(2)}, hosts ${hosts.toFixed(2)}, ` +
        `trace platform ${trace.toFixed(2)}, Postgres ${postgres.toFixed(2)})`,
    );
  }
  const rate = median(traced.rates.map((each, n) => each / untraced.rates[n]!));
  const latency = median(traced.latencies) / median(untraced.latencies);
  const sum = (cost: Costs) => cost.server + cost.hosts + cost.trace + cost.postgres;
  const cost = sum(costs[1]!) - sum(costs[0]!);
  if (runs < LEAST_RUNS) console.log(`Fewer than ${LEAST_RUNS} runs: start-up work dominates these measurements.`);
  const verdict = (passed: boolean) => {
    if (!passed) process.exitCode = 1;
    return passed ? "PASS" : "FAIL";
  };
  console.log(`throughput ${rate.toFixed(2)} of untraced (>= ${LEAST_RATE}): ${verdict(rate >= LEAST_RATE)}`);
  console.log(`median latency ${latency.toFixed(2)} times (<= ${MOST_LATENCY}): ${verdict(latency <= MOST_LATENCY)}`);
  console.log(`CPU time of a trace ${cost.toFixed(2)} ms (<= ${MOST_COST_MS}): ${verdict(cost <= MOST_COST_MS)}`);
}

async function measureHost(): Promise<void> {
  const runs = 3 * Number(options.runs);
  let bytes = 0;
  const sink = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => (bytes += chunk.length));
    request.on("end", () => response.writeHead(202).end());
  });
  await new Promise<void>((listening) => sink.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
  const measured: Record<"untraced" | "traced", number[]> = { untraced: [], traced: [] };
  for (const mode of ["untraced", "traced", "untraced", "traced"] as const) {
    const host = await HostProcess.start("agents", { echo: "./echo.ts:graph" });
    if (mode === "traced") host.send({ t: "trace.to", to: { state: "on", url, key: null } });
    const run = async (count: number) => {
      const each = () => host.run("echo", { input: { messages: "hi" } });
      for (let done = 0; done < count; done += 10) await Promise.all(Array.from({ length: 10 }, each));
      await sleep(DELIVERY_MS);
    };
    await run(runs / 2);
    bytes = 0;
    const before = processorTime([host.child.pid!]);
    await run(runs);
    const ms = (processorTime([host.child.pid!]) - before) / runs;
    measured[mode].push(ms);
    console.log(`${mode.padEnd(10)}${ms.toFixed(2)} ms of CPU time per run, ${Math.round(bytes / runs)} bytes sent`);
    await host.stop();
  }
  sink.close();
  const [untraced, traced] = [Math.min(...measured.untraced), Math.min(...measured.traced)];
  console.log(
    `a trace costs ${(traced - untraced).toFixed(2)} ms, ${(traced / untraced).toFixed(1)} times the run alone`,
  );
}
