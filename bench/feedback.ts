/**
 * npm run bench -- feedback: how many single feedbacks per second the trace platform accepts, each durable before its
 * response, and whether all of them are there afterwards. Options: --quick, --seconds N. Exits with 1 when a target is
 * missed or a feedback is missing.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";

import { Pool } from "undici";

import { multipartBody } from "./ingest-load.ts";
import { processorTime } from "./processes.ts";
import { removeDirectory, startTrace, temporaryDirectory } from "./servers.ts";
import { median, percentile } from "./statistics.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, seconds: { type: "string" } },
});
const SECONDS = Number(options.seconds ?? (options.quick ? 5 : 30));
/** A batch is copied to the traces in about 100 ms, so many callers are needed for full load. */
const CONNECTIONS = 256;
const TARGET = 1500;
const KEY = "score";

const directory = await temporaryDirectory();
const server = await startTrace(directory, "feedback", { HEDDLE_RATE_LIMITS: "off" });
const pool = new Pool(server.url, { connections: CONNECTIONS });
const auth = { "x-api-key": server.firstKey };

async function request(method: "GET" | "POST", path: string, body?: string | Buffer, type = "application/json") {
  const headers = { ...auth, "content-type": type };
  const response = await pool.request({ method, path, headers, body });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
  return text;
}

/** Posts for that long, each connection one feedback after another. */
async function load(ids: string[], seconds: number) {
  const times: number[] = [];
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1000;
  let n = 0;
  const connection = async () => {
    while (performance.now() < deadline) {
      const at = performance.now();
      const body = { run_id: ids[n++ % ids.length], key: KEY, score: 1, comment: "a short comment" };
      await request("POST", "/feedback", JSON.stringify(body));
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return { times, perSecond: (times.length * 1000) / (performance.now() - startedAt) };
}

/** Returns the number of feedbacks that the runs have. */
async function count(ids: string[]): Promise<number> {
  let found = 0;
  for (const id of ids) {
    for (let offset = 0; ; offset += 100) {
      const page = JSON.parse(await request("GET", `/feedback?run=${id}&limit=100&offset=${offset}`)) as unknown[];
      found += page.length;
      if (page.length < 100) break;
    }
  }
  return found;
}

try {
  console.log(`load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`);
  const { body, type, ids } = multipartBody("bench");
  await request("POST", "/runs/multipart", body, type);
  const warm = await load(ids, 2);
  const before = { platform: processorTime([server.pid]), client: process.cpuUsage() };
  const { times, perSecond } = await load(ids, SECONDS);
  const { user, system } = process.cpuUsage(before.client);
  const cpu = { platform: processorTime([server.pid]) - before.platform, client: (user + system) / 1000 };
  const isMet = perSecond >= TARGET;
  console.log(`feedbacks per second      ${perSecond.toFixed(0)}   >= ${TARGET}   ${isMet ? "PASS" : "FAIL"}`);
  console.log(`response, median / p99    ${median(times).toFixed(1)} / ${percentile(times, 0.99).toFixed(1)} ms`);
  const each = (ms: number) => (ms / times.length).toFixed(2);
  console.log(`CPU time of each          ${each(cpu.platform)} ms with Postgres, client ${each(cpu.client)} ms`);
  const accepted = warm.times.length + times.length;
  const found = await count(ids);
  console.log(`of ${accepted} accepted, found  ${found}   ${found === accepted ? "PASS" : "FAIL"}`);
  if (!isMet || found !== accepted) process.exitCode = 1;
} finally {
  await pool.close();
  await server.stop();
  await removeDirectory(directory);
}
