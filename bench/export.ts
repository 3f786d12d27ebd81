// npm run bench -- export: a million runs of 2 kB exported to a store on this machine, beside the engine's own writing
// of the same rows as Parquet to the local disk. Options: --quick (100,000 runs), --runs N. Ends with 1 when a target
// is missed.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

import { BATCH, multipartBody } from "./ingest-load.ts";
import { residentMemory } from "./processes.ts";
import { removeDirectory, startTrace, temporaryDirectory, type TraceUnderTest } from "./servers.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, runs: { type: "string" } },
});
const RUNS = Number(options.runs ?? (options.quick ? 100_000 : 1_000_000));
const TARGETS = { ratio: 0.7, memory: 500e6 };
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const env = { HEDDLE_OUTBOUND_ALLOW: "127.0.0.1/32", HEDDLE_RATE_LIMITS: "off" };

async function ask<T>(server: TraceUnderTest, key: string, method: string, path: string, body?: object): Promise<T> {
  const headers = { "content-type": "application/json", "x-api-key": key };
  const answer = await fetch(server.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as T;
}

async function fill(server: TraceUnderTest, key: string): Promise<void> {
  let left = RUNS / BATCH;
  const send = async () => {
    while (left-- > 0) {
      const { body, type } = multipartBody("bench");
      for (;;) {
        const headers = { "content-type": type, "x-api-key": key };
        const answer = await fetch(`${server.url}/runs/multipart`, { method: "POST", headers, body: body as BodyInit });
        await answer.text();
        if (answer.status === 202) break;
        if (answer.status !== 429 && answer.status !== 503) throw new Error(`runs were answered with ${answer.status}`);
        await sleep(100);
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, send));
}

interface Exported {
  status: string;
  error: string | null;
  progress: { rows_written: number; bytes_written: number; files_written: number };
}

const directory = await temporaryDirectory();
const store = spawn(process.execPath, ["--import", "tsx", script("store.ts")], { stdio: ["pipe", "pipe", "inherit"] });
let server: TraceUnderTest | undefined;
try {
  const [port] = (await once(store.stdout, "data")) as [Buffer];
  const endpoint = `http://127.0.0.1:${String(port).trim()}`;
  server = await startTrace(directory, "trace", env);
  const key = server.firstKey;
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const filling = performance.now();
  await fill(server, key);
  console.error(`${RUNS} runs sent in ${((performance.now() - filling) / 1000).toFixed(0)} s`);
  const [project] = await ask<{ id: string }[]>(server, key, "GET", "/api/v1/sessions?name=bench");
  const { id: destination } = await ask<{ id: string }>(server, key, "POST", "/api/v1/bulk-exports/destinations", {
    display_name: "bench",
    config: { bucket_name: "bench", prefix: "", endpoint_url: endpoint, region: "us-east-1" },
    credentials: { access_key_id: "S3RVER", secret_access_key: "S3RVER" },
  });
  // parts that are still merging would be measured too
  await sleep(options.quick ? 2000 : 10_000);
  const idle = residentMemory(server.pid).own;
  let peak = idle;
  const began = performance.now();
  const { id } = await ask<{ id: string }>(server, key, "POST", "/api/v1/bulk-exports", {
    bulk_export_destination_id: destination,
    session_id: project!.id,
    start_time: from,
    end_time: new Date(Date.now() + 3_600_000).toISOString(),
  });
  let done: Exported;
  do {
    await sleep(100);
    peak = Math.max(peak, residentMemory(server.pid).own);
    done = await ask<Exported>(server, key, "GET", `/api/v1/bulk-exports/${id}`);
  } while (done.status === "CREATED" || done.status === "RUNNING");
  const seconds = (performance.now() - began) / 1000;
  const { rows_written: rows, bytes_written: bytes, files_written: files } = done.progress;
  if (done.status !== "COMPLETED" || rows !== RUNS) throw new Error(`${done.status} with ${rows} rows: ${done.error}`);
  await server.stop();
  server = undefined;
  const raw = await promisify(execFile)(process.execPath, [
    "--import",
    "tsx",
    script("raw-parquet.ts"),
    join(directory, "data-trace", "chdb"),
  ]);
  const engine = JSON.parse(raw.stdout) as { rows: number; seconds: number; bytes: number };
  const rate = { ours: rows / seconds, engine: engine.rows / engine.seconds };
  const ratio = rate.ours / rate.engine;
  const above = peak - idle;
  const verdict = (ok: boolean) => (ok ? "PASS" : "FAIL");
  console.log(
    `Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, store on the same machine\n`,
  );
  console.log(
    `export           ${rate.ours.toFixed(0)} rows/s   ${rows} rows, ${files} files, ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s`,
  );
  console.log(
    `engine, to disk  ${rate.engine.toFixed(0)} rows/s   ${engine.rows} rows, ${(engine.bytes / 1e6).toFixed(0)} MB in ${engine.seconds.toFixed(1)} s`,
  );
  console.log(`ratio            ${ratio.toFixed(2)}   >= ${TARGETS.ratio}   ${verdict(ratio >= TARGETS.ratio)}`);
  console.log(
    `memory over idle ${(above / 1e6).toFixed(0)} MB   < ${TARGETS.memory / 1e6}   ${verdict(above < TARGETS.memory)}   (idle ${(idle / 1e6).toFixed(0)} MB)`,
  );
  process.exitCode = ratio >= TARGETS.ratio && above < TARGETS.memory ? 0 : 1;
} finally {
  await server?.stop();
  store.kill();
  await removeDirectory(directory);
}
