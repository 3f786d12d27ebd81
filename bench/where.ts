/**
 * npm run bench -- where [--quick] [--only KIND[,KIND]]: where the time of a trivial run goes, process by process, with
 * the bare graph's loop by turns in between, so that their ratio does not depend on the machine's load.
 *
 * Per process and run: milliseconds on a core, milliseconds in which it was ready but waited for a core, and the number
 * of times it was scheduled (its wake-ups). What a run's duration exceeds the sum of the first two by is spent waiting
 * for other processes or the disk while no process of the run was ready. Linux only (/proc/PID/task/TID/schedstat).
 * Exits with 1 when a target is missed.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import postgres from "postgres";

import type { BareRound } from "./bare-loop.ts";
import { AgentClient } from "./client.ts";
import { addTimes, descendants, scheduledTimes, type ScheduledTime } from "./processes.ts";
import { removeDirectory, startHeddle, temporaryDirectory } from "./servers.ts";
import { median, percentile } from "./statistics.ts";
import { Targets } from "./targets.ts";
import { closedLoop } from "./turns.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: { quick: { type: "boolean", default: false }, only: { type: "string" } },
});

/** A run as a client requests it, and the number of clients that do so at once. */
interface Kind {
  clients: number;
  run(client: AgentClient, thread: string): Promise<void>;
}

const streamed =
  (extra: object = {}): Kind["run"] =>
  async (client, thread) => {
    const body = { assistant_id: "echo", input: { text: "hello" }, stream_mode: ["values"], ...extra };
    await client.stream(thread, body, () => {});
  };
const waited: Kind["run"] = (client, thread) => client.echo(thread);

const KINDS: Record<string, Kind> = {
  "waited, 1 client": { clients: 1, run: waited },
  "waited, 16 clients": { clients: 16, run: waited },
  "streamed, 1 client": { clients: 1, run: streamed() },
  "resumable, 16 clients": { clients: 16, run: streamed({ stream_resumable: true }) },
};
/** Waited runs: processor time and wake-ups of a run over all processes, and the first runs relative to later ones. */
const isNew = Number(process.versions.node.split(".")[0]) >= 24;
const MOST = {
  one: { busy: 6, slices: 10, ratio: isNew ? 6 : 4 },
  several: { busy: 2.6, rate: isNew ? 0.4 : 0.5 },
  first: 2,
};
const targets = new Targets();
/** Processes below this are summed up as "others". */
const LEAST_MS = 0.03;
const FIRST_RUNS = 50;
/** A process compiles its hot code over thousands of runs: with 16 clients, 5,000 took the rate from 110 to 460 runs/s. */
const WARM_RUNS = options.quick ? 600 : 5000;
const rounds = options.quick ? 4 : 10;
const runsPerRound = options.quick ? 50 : 100;
/** Several clients take longer rounds, since at the end of each round they run out of work one by one. */
const SEVERAL = 4;

class BareLoop {
  readonly #child: ChildProcess;

  constructor() {
    const script = fileURLToPath(new URL("bare-loop.ts", import.meta.url));
    this.#child = fork(script, ["rounds"], { execArgv: ["--import", "tsx"] });
  }

  async round(runs: number, clients: number): Promise<BareRound> {
    this.#child.send({ runs, clients });
    const [message] = (await once(this.#child, "message")) as [BareRound];
    return message;
  }

  close(): void {
    this.#child.disconnect();
  }
}

/** Names the server, its hosts and the database's backends (by application name, several of a name counted). */
async function nameProcesses(server: number, postmaster: number, sql: postgres.Sql): Promise<Map<number, string>> {
  const names = new Map([
    [process.pid, "client"],
    [server, "server"],
    [postmaster, "Postgres: postmaster"],
  ]);
  let hosts = 0;
  for (const pid of descendants([server])) {
    if (pid !== server && !descendants([postmaster]).has(pid)) names.set(pid, `graph host ${++hosts}`);
  }
  const rows = await sql<{ pid: number; name: string }[]>`
    select pid, coalesce(nullif(application_name, ''), backend_type) as name from pg_stat_activity
    where pid <> pg_backend_pid()`;
  const seen = new Map<string, number>();
  for (const { pid, name } of rows) {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    names.set(pid, `Postgres: ${name}${count > 1 ? ` ${count}` : ""}`);
  }
  return names;
}

async function measureKind(name: string, kind: Kind, bare: BareLoop): Promise<void> {
  const directory = await temporaryDirectory();
  const server = await startHeddle(directory);
  const client = new AgentClient(server.url);
  const sql = connectTo(directory);
  try {
    const threads = await Promise.all(Array.from({ length: kind.clients }, () => client.newThread()));
    const round = async (runs: number) => {
      const times: number[] = [];
      const started = performance.now();
      await closedLoop(threads, runs, async (thread) => {
        const from = performance.now();
        await kind.run(client, thread);
        times.push(performance.now() - from);
      });
      return { times, perSecond: (runs * 1000) / (performance.now() - started) };
    };
    const first = await round(FIRST_RUNS);
    await round(WARM_RUNS);
    await bare.round(WARM_RUNS, kind.clients);

    const postmaster = Number(postmasterFile(directory)[0]);
    const names = await nameProcesses(server.pid!, postmaster, sql);
    const total = new Map<number, ScheduledTime>();
    const times: number[] = [];
    const ratios = { latency: [] as number[], rate: [] as number[] };
    const bareTimes: number[] = [];
    const before = await databaseCounters(sql);
    const runs = kind.clients > 1 ? runsPerRound * SEVERAL : runsPerRound;
    for (let n = 0; n < rounds; n++) {
      const at = scheduledTimes([...names.keys()]);
      const own = await round(runs);
      addTimes(total, at, scheduledTimes([...names.keys()]));
      times.push(...own.times);
      const alone = await bare.round(runs * 4, kind.clients);
      bareTimes.push(alone.median);
      ratios.latency.push(median(own.times) / alone.median);
      ratios.rate.push(own.perSecond / alone.perSecond);
    }
    const after = await databaseCounters(sql);
    report({ name, kind, first: first.times, times, ratios, bare: median(bareTimes), names, total, before, after });
  } finally {
    await Promise.all([client.close(), sql.end({ timeout: 1 })]);
    await server.stop();
    await removeDirectory(directory);
  }
}

const postmasterFile = (directory: string): string[] =>
  readFileSync(join(directory, "data/postgres/data/postmaster.pid"), "utf8").split("\n");

function connectTo(directory: string): postgres.Sql {
  const password = readFileSync(join(directory, "data/postgres/password"), "utf8").trim();
  const port = Number(postmasterFile(directory)[3]);
  return postgres({
    host: "127.0.0.1",
    port,
    user: "heddle",
    password,
    database: "heddle",
    max: 1,
    onnotice: () => {},
    connection: { application_name: "bench" },
  });
}

interface Counters {
  commits: number;
  walBytes: number;
  walSyncs: number;
}

/** Transactions are counted by their sessions with a delay of up to a second, hence the pause. */
async function databaseCounters(sql: postgres.Sql): Promise<Counters> {
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const [row] = await sql<{ commits: string; wal_bytes: string; syncs: string }[]>`
    select (select sum(xact_commit) from pg_stat_database) as commits, (select wal_bytes from pg_stat_wal) as wal_bytes,
           (select sum(fsyncs) from pg_stat_io where object = 'wal') as syncs`;
  return { commits: Number(row!.commits), walBytes: Number(row!.wal_bytes), walSyncs: Number(row!.syncs) };
}

interface Report {
  name: string;
  kind: Kind;
  first: number[];
  times: number[];
  ratios: { latency: number[]; rate: number[] };
  bare: number;
  names: Map<number, string>;
  total: Map<number, ScheduledTime>;
  before: Counters;
  after: Counters;
}

function report({ name, kind, first, times, ratios, bare, names, total, before, after }: Report): void {
  const runs = times.length;
  const duration = median(times);
  console.log(`\n${name}: ${runs} runs, load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`);
  console.log(
    `  median ${duration.toFixed(2)} ms, p95 ${percentile(times, 0.95).toFixed(2)} ms; ` +
      (kind.clients === 1
        ? `${median(ratios.latency).toFixed(2)} times the bare loop's ${bare.toFixed(2)} ms`
        : `${median(ratios.rate).toFixed(3)} of the bare loop's rate`),
  );
  console.log(
    `  first ${first.length} runs: median ${median(first).toFixed(2)} ms, p95 ${percentile(first, 0.95).toFixed(2)} ms; ` +
      `${(median(first) / duration).toFixed(2)} times the later median`,
  );
  console.log(`  ${"per run".padEnd(34)}${"on a core".padStart(10)}${"ready".padStart(10)}${"wake-ups".padStart(10)}`);
  const line = (label: string, { busy, ready, slices }: ScheduledTime) =>
    console.log(
      `  ${label.padEnd(34)}${(busy / runs).toFixed(2).padStart(7)} ms${(ready / runs).toFixed(2).padStart(7)} ms` +
        (slices / runs).toFixed(1).padStart(10),
    );
  const sum: ScheduledTime = { busy: 0, ready: 0, slices: 0 };
  const others: ScheduledTime = { busy: 0, ready: 0, slices: 0 };
  for (const [pid, label] of names) {
    const time = total.get(pid);
    if (!time) continue;
    for (const key of ["busy", "ready", "slices"] as const) {
      sum[key] += time[key];
      if (time.busy / runs < LEAST_MS) others[key] += time[key];
    }
    if (time.busy / runs >= LEAST_MS) line(label, time);
  }
  line("others", others);
  line("all", sum);
  const perRun = (value: number, digits: number) => (value / runs).toFixed(digits);
  console.log(
    `  database: ${perRun(after.commits - before.commits, 2)} transactions, ` +
      `${perRun((after.walBytes - before.walBytes) / 1024, 1)} KB of WAL and ` +
      `${perRun(after.walSyncs - before.walSyncs, 2)} flushes of it per run`,
  );
  if (kind.run !== waited) return;
  const check = (label: string, value: number, most: number, unit = "") =>
    targets.report(`  ${label}`, `${value.toFixed(2)}${unit}`, value <= most, `<= ${most}${unit}`);
  const of = kind.clients === 1 ? MOST.one : MOST.several;
  check("processor time of a run", sum.busy / runs, of.busy, " ms");
  check("first runs, relative to later ones", median(first) / duration, MOST.first);
  if (kind.clients === 1) {
    check("wake-ups of a run", sum.slices / runs, MOST.one.slices);
    check("median, relative to the bare loop", median(ratios.latency), MOST.one.ratio);
  } else {
    const rate = median(ratios.rate);
    const { rate: least } = MOST.several;
    targets.report("  rate, relative to the bare loop", rate.toFixed(2), rate >= least, `>= ${least}`);
  }
}

const only = options.only?.split(",");
const bare = new BareLoop();
try {
  for (const [name, kind] of Object.entries(KINDS)) {
    if (!only || only.some((part) => name.startsWith(part))) await measureKind(name, kind, bare);
  }
} finally {
  bare.close();
}
process.exitCode = targets.missed ? 1 : 0;
