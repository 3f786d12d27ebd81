// npm run bench -- ingest: how many runs of 2 kB per second the trace platform accepts, each durable before its
// response, and the processor time of a run by multipart and of a span by OTLP. Options: --quick, --seconds N. Exits with
// 1 when a target is missed.
import { execFile } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

import { Pool } from "undici";

import { BATCH, multipartBody } from "./ingest-load.ts";
import { otlpRequests, SPANS_PER_REQUEST } from "./peers/otlp-requests.ts";
import { SeededSpans } from "./peers/spans.ts";
import { residentMemory } from "./processes.ts";
import { removeDirectory, startTrace, temporaryDirectory, type TraceUnderTest } from "./servers.ts";
import { median, percentile } from "./statistics.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, seconds: { type: "string" } },
});
const SECONDS = Number(options.seconds ?? (options.quick ? 10 : 60));
const CONNECTIONS = 8;
const TARGETS = { perSecond: 8000, memory: 1e9, p99: 500, cpu: 0.2 };
/** Requests per second of the half load. */
const HALF = 25;
/** OTLP requests that are made before they are sent: more than arrive in the time. */
const REQUESTS = Math.ceil(SECONDS / 3) * 40;

interface Outcome {
  /** CPU time in ms of the server and of this client. */
  server: number;
  client: number;
  runs: number;
  seconds: number;
  latencies: number[];
  peak: number;
  rejected: number;
}

interface Body {
  path: string;
  type: string;
  body: Buffer;
  runs: number;
}

const multipart = (): Body => {
  const { body, type } = multipartBody("bench");
  return { path: "/runs/multipart", type, body, runs: BATCH };
};

/** Sends for that long, as fast as responses arrive, or `rate` requests per second regardless of responses. */
async function load(
  server: TraceUnderTest,
  key: string,
  seconds: number,
  { rate, make = multipart }: { rate?: number; make?: () => Body } = {},
): Promise<Outcome> {
  const pool = new Pool(server.url, { connections: rate === undefined ? CONNECTIONS : 64 });
  const cpuBefore = { server: await processorMs(server.url), client: process.cpuUsage() };
  const outcome: Outcome = { server: 0, client: 0, runs: 0, seconds, latencies: [], peak: 0, rejected: 0 };
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1000;
  const send = async () => {
    const { path, type, body, runs } = make();
    const sent = performance.now();
    const headers = { "content-type": type, "x-api-key": key };
    const response = await pool.request({ method: "POST", path, headers, body });
    const text = await response.body.text();
    outcome.latencies.push(performance.now() - sent);
    if (response.statusCode === 200 || response.statusCode === 202) outcome.runs += runs;
    else if (response.statusCode === 429 || response.statusCode === 503) outcome.rejected++;
    else throw new Error(`${response.statusCode} ${text}`);
  };
  let watching = true;
  const watch = (async () => {
    while (watching) {
      outcome.peak = Math.max(outcome.peak, residentMemory(server.pid).own);
      await sleep(1000);
    }
  })();
  try {
    if (rate === undefined) {
      await Promise.all(
        Array.from({ length: CONNECTIONS }, async () => {
          while (performance.now() < deadline) await send();
        }),
      );
    } else {
      const sent: Promise<void>[] = [];
      for (let n = 0; performance.now() < deadline; n++) {
        const wait = startedAt + (n * 1000) / rate - performance.now();
        if (wait > 0) await sleep(wait);
        sent.push(send());
      }
      await Promise.all(sent);
    }
  } finally {
    watching = false;
    await watch;
    await pool.close();
  }
  outcome.seconds = (performance.now() - startedAt) / 1000;
  outcome.server = (await processorMs(server.url)) - cpuBefore.server;
  const { user, system } = process.cpuUsage(cpuBefore.client);
  outcome.client = (user + system) / 1000;
  return outcome;
}

async function processorMs(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(metrics)?.[1]) * 1000;
}

const rows: [string, string, string, boolean | undefined][] = [];
const busyBefore = loadavg()[0]!;
const directory = await temporaryDirectory();
const size = multipartBody("bench").body.length / BATCH;
try {
  const server = await startTrace(directory, "ingest", { HEDDLE_RATE_LIMITS: "off", UV_THREADPOOL_SIZE: "8" });
  const idle = residentMemory(server.pid).own;
  try {
    await load(server, server.firstKey, 3);
    const full = await load(server, server.firstKey, SECONDS);
    const perSecond = full.runs / full.seconds;
    const half = await load(server, server.firstKey, SECONDS / 3, { rate: HALF });
    const spans = new SeededSpans(REQUESTS * SPANS_PER_REQUEST, Date.now());
    const bodies = Array.from(otlpRequests(spans), (body) => ({
      ...{ path: "/otel/v1/traces", type: "application/x-protobuf", body, runs: SPANS_PER_REQUEST },
    }));
    let next = 0;
    const make = () => bodies[next++ % bodies.length]!;
    const otlp = await load(server, server.firstKey, SECONDS / 3, { make });
    const [ofRun, ofSpan] = [full.server / full.runs, otlp.server / otlp.runs];
    rows.push(
      ["runs per second", perSecond.toFixed(0), `>= ${TARGETS.perSecond}`, perSecond >= TARGETS.perSecond],
      [
        "answer at full load, median / p99",
        `${median(full.latencies).toFixed(0)} / ${percentile(full.latencies, 0.99).toFixed(0)} ms`,
        "",
        undefined,
      ],
      [
        "resident memory, idle / peak",
        `${mb(idle)} / ${mb(Math.max(full.peak, half.peak))} MB`,
        "< 1000 MB",
        Math.max(full.peak, half.peak) < TARGETS.memory,
      ],
      [
        "answer at half the load, median / p99",
        `${median(half.latencies).toFixed(0)} / ${percentile(half.latencies, 0.99).toFixed(0)} ms`,
        `< ${TARGETS.p99} ms`,
        percentile(half.latencies, 0.99) < TARGETS.p99,
      ],
      [
        "CPU time per run, server / client",
        `${ofRun.toFixed(3)} / ${(full.client / full.runs).toFixed(3)} ms`,
        `<= ${TARGETS.cpu} ms`,
        ofRun <= TARGETS.cpu,
      ],
      ["spans by OTLP per second", (otlp.runs / otlp.seconds).toFixed(0), "", undefined],
      ["CPU time of the server per span", `${ofSpan.toFixed(3)} ms`, `<= ${TARGETS.cpu} ms`, ofSpan <= TARGETS.cpu],
      ["rejected for overload", String(full.rejected + half.rejected), "0", full.rejected + half.rejected === 0],
    );
    await server.stop();
    const raw = await rawInsert(join(directory, "data-ingest", "chdb"));
    rows.push(["the engine alone, from a file", `${raw.toFixed(0)} runs/s`, "", undefined]);
    rows.push(["ratio to it", (perSecond / raw).toFixed(2), "", undefined]);
  } finally {
    await server.stop();
  }
} finally {
  await removeDirectory(directory);
}

async function rawInsert(chdb: string): Promise<number> {
  const script = fileURLToPath(new URL("raw-insert.ts", import.meta.url));
  const args = ["--import", "tsx", script, chdb, options.quick ? "20000" : "100000"];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { rows: count, seconds } = JSON.parse(stdout.trim().split("\n").at(-1)!) as { rows: number; seconds: number };
  return count / seconds;
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

console.log(
  `Ingest: multipart requests of ${BATCH} runs, ${(size / 1000).toFixed(1)} kB per run, ${CONNECTIONS} connections, ${SECONDS} s. ` +
    `Node ${process.version}, ${cpus().length} cores, client on the same machine.\n`,
);
for (const [what, value, target, pass] of rows) {
  console.log(
    `${what.padEnd(40)} ${value.padEnd(22)} ${target.padEnd(12)} ${pass === undefined ? "" : pass ? "ok" : "MISSED"}`,
  );
}
if (busyBefore > 1)
  console.log(`\nThe machine was busy before (load ${busyBefore.toFixed(1)}): these measurements are worth little.`);
process.exitCode = rows.some(([, , , pass]) => pass === false) ? 1 : 0;
