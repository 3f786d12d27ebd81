// npm run bench -- export: a million runs of 2 kB exported to a store on this machine, alternating with the engine's
// own writing of the same rows as Parquet to the local disk: once with the columns of an export, which for roots are
// sums over their traces, and once with the columns as stored, which is less than an export writes. Options: --quick
// (100,000 runs), --runs N, --rounds N (3). Exits with 1 when a target is missed.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

import { residentBytes } from "./processes.ts";
import { removeDirectory, startTrace, temporaryDirectory, type TraceUnderTest } from "./servers.ts";
import { median } from "./statistics.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    runs: { type: "string" },
    rounds: { type: "string", default: "3" },
  },
});
const RUNS = Number(options.runs ?? (options.quick ? 100_000 : 1_000_000));
const ROUNDS = Number(options.rounds);
const DAYS = 2;
/** Polling interval of `heddle export create --watch`; each response costs the exporter's process some milliseconds. */
const POLL_MS = 500;
const TARGETS = { ratio: 0.9, memory: 400e6 };
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const env = { HEDDLE_OUTBOUND_ALLOW: "127.0.0.1/32", HEDDLE_RATE_LIMITS: "off" };

async function ask<T>(server: TraceUnderTest, key: string, method: string, path: string, body?: object): Promise<T> {
  const headers = { "content-type": "application/json", "x-api-key": key };
  const response = await fetch(server.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

interface Exported {
  status: string;
  error: string | null;
  finished_at: string | null;
  progress: { rows_written: number; bytes_written: number; files_written: number };
}

interface Raw {
  rows: number;
  /** Sum over all rows of the file. */
  tokens: number;
  seconds: number;
  bytes: number;
  cpu: number;
}

const run = (name: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, ["--import", "tsx", script(name), ...args]);

/** Returns the CPU time that a process has used, in seconds. */
function cpuTicks(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ").slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

interface Measured {
  seconds: number;
  cpu: number;
  files: number;
  bytes: number;
  idle: number;
  peak: number;
}

async function measure(
  running: TraceUnderTest,
  key: string,
  project: string,
  destination: string,
  from: number,
): Promise<Measured> {
  await sleep(3000);
  const idle = residentBytes(running.pid);
  let peak = idle;
  const cpuBefore = cpuTicks(running.pid);
  const startedAt = Date.now();
  const { id } = await ask<{ id: string }>(running, key, "POST", "/api/v1/bulk-exports", {
    bulk_export_destination_id: destination,
    session_id: project,
    start_time: new Date(from).toISOString(),
    end_time: new Date(from + DAYS * 86_400_000).toISOString(),
  });
  let done: Exported;
  do {
    for (let left = POLL_MS / 50; left > 0; left--) {
      await sleep(50);
      peak = Math.max(peak, residentBytes(running.pid));
    }
    done = await ask<Exported>(running, key, "GET", `/api/v1/bulk-exports/${id}`);
  } while (done.status === "CREATED" || done.status === "RUNNING");
  const cpu = cpuTicks(running.pid) - cpuBefore;
  const { rows_written: rows, bytes_written: bytes, files_written: files } = done.progress;
  if (done.status !== "COMPLETED" || rows !== RUNS) throw new Error(`${done.status} with ${rows} rows: ${done.error}`);
  // from the request to the end that the export itself reports, regardless of the polling
  const seconds = (Date.parse(done.finished_at!) - startedAt) / 1000;
  return { seconds, cpu, files, bytes, idle, peak };
}

/** Prints medians over the rounds. */
function report(exports: Measured[], engines: Raw[], stored: Raw[]): void {
  const verdict = (ok: boolean) => (ok ? "PASS" : "FAIL");
  const line = (name: string, { seconds, bytes, cpu }: { seconds: number; bytes: number; cpu: number }, files = 1) =>
    console.log(
      `${name.padEnd(16)} ${`${(RUNS / seconds).toFixed(0)} rows/s`.padEnd(14)} ${files} files, ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of CPU time`,
    );
  console.log(
    `Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, store on the same machine, ${RUNS} runs\n`,
  );
  for (const item of exports) line("export", item, item.files);
  for (const engine of engines) line("engine, to disk", engine);
  for (const measurement of stored) line("engine, no sums", measurement);
  const middle = <T>(of: T[], value: (item: T) => number) => median(of.map(value));
  const seconds = middle(exports, (measured) => measured.seconds);
  const ratio = middle(engines, (measured) => measured.seconds) / seconds;
  const processor = middle(engines, (measured) => measured.cpu) / middle(exports, (measured) => measured.cpu);
  const ofStored = middle(stored, (measured) => measured.seconds) / seconds;
  const above = Math.max(...exports.map(({ peak, idle }) => peak - idle));
  console.log(`\nexport            ${(RUNS / seconds).toFixed(0)} rows/s, the median of ${exports.length}`);
  console.log(`ratio             ${ratio.toFixed(2)}   >= ${TARGETS.ratio}   ${verdict(ratio >= TARGETS.ratio)}`);
  console.log(`  without sums    ${ofStored.toFixed(2)}   (the engine writes the columns as they are stored)`);
  console.log(`of CPU time ${processor.toFixed(2)}, the store's left out`);
  console.log(
    `memory over idle  ${(above / 1e6).toFixed(0)} MB   < ${TARGETS.memory / 1e6}   ${verdict(above < TARGETS.memory)}   (idle ${(exports[0]!.idle / 1e6).toFixed(0)} MB)`,
  );
  process.exitCode = ratio >= TARGETS.ratio && above < TARGETS.memory ? 0 : 1;
}

const directory = await temporaryDirectory();
const chdb = join(directory, "data-trace", "chdb");
const raw = async (which: "sums" | "stored") => JSON.parse((await run("raw-parquet.ts", chdb, which)).stdout) as Raw;
const store = spawn(process.execPath, ["--import", "tsx", script("store.ts")], { stdio: ["pipe", "pipe", "inherit"] });
let server: TraceUnderTest | undefined;
try {
  const [port] = (await once(store.stdout, "data")) as [Buffer];
  const endpoint = `http://127.0.0.1:${String(port).trim()}`;
  server = await startTrace(directory, "trace", env);
  const key = server.firstKey;
  const project = await ask<{ id: string; tenant_id: string }>(server, key, "POST", "/sessions", { name: "bench" });
  await server.stop();
  server = undefined;
  // whole days of UTC, so that the files are the same at any time of day
  const from = Math.floor(Date.now() / 86_400_000 - DAYS) * 86_400_000;
  const seeding = performance.now();
  await run("seed-export.ts", chdb, project.tenant_id, project.id, String(RUNS), String(from), String(DAYS));
  console.error(`${RUNS} runs made in ${((performance.now() - seeding) / 1000).toFixed(0)} s`);

  server = await startTrace(directory, "trace", env);
  const { id: destination } = await ask<{ id: string }>(server, key, "POST", "/api/v1/bulk-exports/destinations", {
    display_name: "bench",
    config: { bucket_name: "bench", prefix: "", endpoint_url: endpoint, region: "us-east-1" },
    credentials: { access_key_id: "S3RVER", secret_access_key: "S3RVER" },
  });
  await server.stop();
  server = undefined;
  // alternating, because the load of the machine varies
  const engines = [await raw("sums")];
  const stored: Raw[] = [];
  const exports: Measured[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    server = await startTrace(directory, "trace", env);
    exports.push(await measure(server, key, project.id, destination, from));
    await server.stop();
    server = undefined;
    stored.push(await raw("stored"));
    engines.push(await raw("sums"));
  }
  // a root repeats its trace's tokens
  if (engines[0]!.tokens !== 2 * stored[0]!.tokens) throw new Error("the engine's rows are not those of an export");
  report(exports, engines, stored);
} finally {
  await server?.stop();
  store.kill();
  await removeDirectory(directory);
}
