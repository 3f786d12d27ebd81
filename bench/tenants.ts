// npm run bench -- tenants: service to a workspace while its neighbour, on the same trace platform, sends slow
// searches, floods ingest, or has 10,000 exports queued. The same requests are first measured alone. Options: --quick
// (smaller, shorter), --seconds N (per phase), --runs N (of the neighbour), --exports N. Exits with 1 when a p95 is
// more than twice the one measured alone. The neighbour's client is a process of the lowest scheduling priority, since
// it represents other machines, whose processor time is not the platform's.
import { execFile, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

import type { Load } from "./neighbour.ts";
import { removeDirectory, startTrace, temporaryDirectory, type TraceUnderTest } from "./servers.ts";
import { median, percentile } from "./statistics.ts";
import { type Answer, WorkspaceClient } from "./workspace-client.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    seconds: { type: "string" },
    runs: { type: "string" },
    exports: { type: "string", default: "10000" },
  },
});
const RUNS = Number(options.runs ?? (options.quick ? 100_000 : 1_000_000));
const SECONDS = Number(options.seconds ?? (options.quick ? 20 : 60));
const EXPORTS = Number(options.exports);
/** Connections of the neighbour. */
const CONNECTIONS = 16;
/** Pause between two rounds of the measured workspace, which represents a working team, not a load. */
const PAUSE_MS = 100;
const TARGET = 2;
const ENV = { HEDDLE_RATE_LIMITS: "off", HEDDLE_OUTBOUND_ALLOW: "127.0.0.1/32", UV_THREADPOOL_SIZE: "8" };
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const run = (name: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, ["--import", "tsx", script(name), ...args]);

type Samples = Record<string, number[]>;

/** Runs the typical requests of a workspace sequentially. */
async function measure(
  client: WorkspaceClient,
  project: string,
  destination: string,
  seconds: number,
): Promise<Samples> {
  const samples: Samples = {};
  const timed = async (name: string, work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await work();
    (samples[name] ??= []).push(performance.now() - startedAt);
  };
  const session = [project];
  const filter = 'and(eq(metadata_key,"env"),eq(metadata_value,"prod"),gt(latency,9))';
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    await timed("newest runs", () => client.ask("POST", "/runs/query", { session, is_root: true }));
    await timed("search", () => client.ask("POST", "/runs/query", { session, filter }));
    await timed("statistics", () => client.ask("POST", "/runs/stats", { session, start_time: ago(7) }));
    await timed("ingest", () => client.ingest());
    await sleep(PAUSE_MS);
  }
  for (let n = 0; n < 5; n++) {
    await timed("export", async () => {
      const window = { session_id: project, start_time: ago(1.5), end_time: ago(1) };
      const { id } = await client.ask("POST", "/api/v1/bulk-exports", {
        bulk_export_destination_id: destination,
        ...window,
      });
      for (const limit = performance.now() + 120_000; performance.now() < limit; await sleep(50)) {
        const { status } = await client.ask("GET", `/api/v1/bulk-exports/${id}`);
        if (status === "COMPLETED") return;
        if (status !== "CREATED" && status !== "RUNNING") throw new Error(`the export ended as ${status}`);
      }
    });
  }
  return samples;
}

/** Measures while the neighbour's process repeats its work on every connection. */
async function beside(load: Load, measured: () => Promise<Samples>): Promise<Samples> {
  const neighbour = fork(script("neighbour.ts"), { execArgv: ["--import", "tsx"] });
  const exited = new AbortController();
  neighbour.once("exit", () => exited.abort(new Error("the neighbour's client exited")));
  const message = () => once(neighbour, "message", { signal: exited.signal });
  neighbour.send(load);
  await message();
  await sleep(2000);
  try {
    return await measured();
  } finally {
    const ended = message();
    neighbour.send("stop");
    const [rejected] = (await ended) as [number];
    rejectedNeighbour += rejected;
  }
}

const directory = await temporaryDirectory();
let rejectedNeighbour = 0;
const busyBefore = loadavg()[0]!;
const store = spawn(process.execPath, ["--import", "tsx", script("store.ts")], { stdio: ["pipe", "pipe", "inherit"] });
let server: TraceUnderTest | undefined;
try {
  const [port] = (await once(store.stdout, "data")) as [Buffer];
  const endpoint = `http://127.0.0.1:${String(port).trim()}`;
  server = await startTrace(directory, "trace", ENV);
  const { firstKey } = server;
  const make = async (path: string, body: object, workspace?: string): Promise<Answer> => {
    const headers = {
      "x-api-key": firstKey,
      "content-type": "application/json",
      ...(workspace && { "x-tenant-id": workspace }),
    };
    const response = await fetch(server!.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Answer;
  };
  const busy = await make("/sessions", { name: "bench" });
  const { id: quietId } = await make("/api/v1/workspaces", { display_name: "Quiet" });
  const quiet = await make("/sessions", { name: "bench" }, quietId);
  const createDestination = (workspace: string) =>
    make(
      "/api/v1/bulk-exports/destinations",
      {
        display_name: "bench",
        config: { bucket_name: "bench", prefix: "", endpoint_url: endpoint, region: "us-east-1" },
        credentials: { access_key_id: "S3RVER", secret_access_key: "S3RVER" },
      },
      workspace,
    ).then(({ id }) => id);
  const destinations = { busy: await createDestination(busy.tenant_id), quiet: await createDestination(quietId) };
  await server.stop();
  const chdb = join(directory, "data-trace", "chdb");
  await run("seed-runs.ts", chdb, busy.tenant_id, busy.id, String(RUNS), randomUUID());
  await run("seed-runs.ts", chdb, quietId, quiet.id, String(RUNS / 10), randomUUID());
  server = { ...(await startTrace(directory, "trace", ENV)), firstKey };

  const credentials = { url: server.url, key: firstKey, workspaceId: busy.tenant_id, connections: CONNECTIONS };
  const client = new WorkspaceClient({ ...credentials, workspaceId: quietId });
  const ask = () => measure(client, quiet.id, destinations.quiet, SECONDS);
  await measure(client, quiet.id, destinations.quiet, 3);
  const phases: [name: string, samples: Samples][] = [["alone", await ask()]];
  phases.push(["beside slow searches", await beside({ ...credentials, kind: "searches", project: busy.id }, ask)]);
  phases.push(["beside an ingest flood", await beside({ ...credentials, kind: "ingest", project: busy.id }, ask)]);
  const now = Date.now();
  const wish = {
    bulk_export_destination_id: destinations.busy,
    session_id: busy.id,
    start_time: new Date(now - 30 * 86_400_000).toISOString(),
    end_time: new Date(now).toISOString(),
  };
  const neighbour = new WorkspaceClient(credentials);
  let queued = 0;
  const queue = async () => {
    while (queued++ < EXPORTS) await neighbour.ask("POST", "/api/v1/bulk-exports", wish);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, queue));
  phases.push([`beside ${EXPORTS} queued exports`, await ask()]);
  report(phases, client.rejected);
  await Promise.all([neighbour.close(), client.close()]);
} finally {
  await server?.stop();
  store.kill();
  await removeDirectory(directory);
}

function report(phases: [string, Samples][], rejected: number): void {
  const [, alone] = phases[0]!;
  console.log(
    `Node ${process.version}, ${cpus().length} cores, clients on the same machine; the neighbour has ${RUNS} runs and ` +
      `${CONNECTIONS} connections. ${SECONDS} s a phase.\n`,
  );
  let missed = rejected > 0;
  for (const [phase, samples] of phases) {
    for (const [name, times] of Object.entries(samples)) {
      const p95 = percentile(times, 0.95);
      const ratio = p95 / percentile(alone[name]!, 0.95);
      if (ratio > TARGET) missed = true;
      console.log(
        `${phase.padEnd(28)} ${name.padEnd(12)} median ${median(times).toFixed(0).padStart(6)} ms  p95 ` +
          `${p95.toFixed(0).padStart(6)} ms  x${ratio.toFixed(2)}  ${phase === "alone" ? "" : ratio > TARGET ? "MISSED" : "ok"}`,
      );
    }
  }
  console.log(`\nrejected: ${rejectedNeighbour} requests of the neighbour, ${rejected} of the measured workspace`);
  if (busyBefore > 1)
    console.log(`The machine was busy before (load ${busyBefore.toFixed(1)}): these measurements are worth little.`);
  process.exitCode = missed ? 1 : 0;
}
