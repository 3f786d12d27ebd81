/**
 * Two sides measured alternately, each on its own servers, so that other load on the machine affects both alike. After
 * half of the rounds both get new servers: identical processes differ by some hundredths from start to start. Each pair
 * of rounds yields a ratio of throughputs; their median has a 95 % confidence interval. Other load hardly affects
 * CPU time, so that is the second measure; what a side does while the other is measured does not count.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { AgentClient } from "./client.ts";
import { splitProcessorTimes } from "./processes.ts";
import { removeDirectory, type ServerUnderTest, temporaryDirectory } from "./servers.ts";
import { median, medianInterval } from "./statistics.ts";

export type Cost = ReturnType<typeof splitProcessorTimes>;

/** One of the two sides to compare. */
export interface Side {
  name: string;
  start(directory: string): Promise<ServerUnderTest>;
  /** Sends `runs` requests through all clients and resolves when all are answered. */
  round(client: AgentClient, threads: string[], runs: number): Promise<void>;
}

export interface TurnOptions {
  /** Rounds of each side, over all pairs of servers. */
  rounds: number;
  runsPerRound: number;
  /** Pairs of servers; the side that starts first alternates. */
  pairs: number;
  /** Runs before the first counted round of each server. */
  warmRuns: number;
  clients: number;
  /** Time after which no further round begins, in milliseconds over all pairs. */
  limitMs: number;
}

export interface Measured {
  /** Counted runs of each side. */
  runs: number;
  seconds: number;
  /** Per side, the baseline first. */
  perSecond: [number[], number[]];
  /** Milliseconds of CPU time per run, by side. */
  cost: [Cost, Cost];
  /** Throughput of the second side relative to the first: the median of the pairs of rounds, and its interval. */
  ratio: number;
  interval: [number, number];
  /** CPU time of the second side relative to the first. */
  costRatio: number;
}

interface Running extends Side {
  client: AgentClient;
  threads: string[];
  perSecond: number[];
  cost: Cost;
  processorTimes(): Cost;
}

export async function measureByTurns(sides: [Side, Side], options: TurnOptions): Promise<Measured> {
  const startedAt = performance.now();
  const perSecond: [number[], number[]] = [[], []];
  const cost: [Cost, Cost] = [zero(), zero()];
  for (let pair = 0; pair < options.pairs; pair++) {
    const measured = await measurePair(sides, pair % 2 === 1, options);
    for (const n of [0, 1] as const) {
      perSecond[n].push(...measured[n].perSecond);
      cost[n] = add(cost[n], measured[n].cost, 1);
    }
  }
  const runs = perSecond[0].length * options.runsPerRound;
  const ratios = perSecond[0].map((speed, n) => perSecond[1][n]! / speed);
  for (const n of [0, 1] as const) cost[n] = add(zero(), cost[n], 1 / runs);
  return {
    runs,
    seconds: (performance.now() - startedAt) / 1000,
    perSecond,
    cost,
    ratio: median(ratios),
    interval: medianInterval(ratios),
    costRatio: total(cost[1]) / total(cost[0]),
  };
}

async function measurePair(
  sides: [Side, Side],
  secondStartsFirst: boolean,
  options: TurnOptions,
): Promise<[{ perSecond: number[]; cost: Cost }, { perSecond: number[]; cost: Cost }]> {
  const directories = [await temporaryDirectory(), await temporaryDirectory()];
  const started: ServerUnderTest[] = [];
  const running: Running[] = [];
  try {
    const order = secondStartsFirst ? sides.toReversed() : sides;
    for (const [n, side] of order.entries()) {
      const server = await side.start(directories[n]!);
      started.push(server);
      const client = new AgentClient(server.url);
      const threads = await Promise.all(Array.from({ length: options.clients }, () => client.newThread()));
      const postmaster = join(directories[n]!, "data/postgres/data/postmaster.pid");
      const postgres = Number(readFileSync(postmaster, "utf8").split("\n")[0]);
      const processorTimes = () => splitProcessorTimes(server.pid!, postgres);
      running.push({ ...side, client, threads, perSecond: [], cost: zero(), processorTimes });
    }
    const [first, second] = (secondStartsFirst ? running.toReversed() : running) as [Running, Running];
    for (const side of [first, second]) await timedRound(side, options.warmRuns);
    for (const side of [first, second]) Object.assign(side, { perSecond: [], cost: zero() });
    const startedAt = performance.now();
    for (let n = 0; n < options.rounds / options.pairs; n++) {
      if (performance.now() - startedAt > options.limitMs / options.pairs) break;
      // alternate which goes first
      for (const side of n % 2 === 0 ? [first, second] : [second, first]) await timedRound(side, options.runsPerRound);
    }
    return [first, second];
  } finally {
    await Promise.all(running.map(({ client }) => client.close()));
    await Promise.all(started.map((server) => server.stop()));
    await Promise.all(directories.map(removeDirectory));
  }
}

async function timedRound(side: Running, runs: number): Promise<void> {
  const before = side.processorTimes();
  const started = performance.now();
  await side.round(side.client, side.threads, runs);
  side.perSecond.push((runs * 1000) / (performance.now() - started));
  side.cost = add(side.cost, add(side.processorTimes(), before, -1), 1);
}

/** Sends `runs` requests; each client sends sequentially on its own thread. */
export async function closedLoop(
  threads: string[],
  runs: number,
  request: (thread: string, n: number) => Promise<void>,
): Promise<void> {
  let left = runs;
  await Promise.all(
    threads.map(async (thread) => {
      for (let n = left--; n > 0; n = left--) await request(thread, n);
    }),
  );
}

export function reportSide(name: string, measured: Measured, side: 0 | 1): string {
  const cost = measured.cost[side];
  const parts = `server ${cost.server.toFixed(2)}, hosts ${cost.hosts.toFixed(2)}, Postgres ${cost.postgres.toFixed(2)}`;
  return `${name.padEnd(18)}${median(measured.perSecond[side]).toFixed(0)} runs/s  ${total(cost).toFixed(2)} ms of CPU time per run (${parts})`;
}

const zero = (): Cost => ({ server: 0, hosts: 0, postgres: 0 });
const total = (cost: Cost): number => cost.server + cost.hosts + cost.postgres;
/** Returns a + factor * b by component. */
const add = (a: Cost, b: Cost, factor: number): Cost => ({
  server: a.server + b.server * factor,
  hosts: a.hosts + b.hosts * factor,
  postgres: a.postgres + b.postgres * factor,
});
