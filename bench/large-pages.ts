// npm run bench -- large-pages: memory and responsiveness of the trace platform while a client reads all pages of a
// project of large runs. Options: --runs N (100), --megabytes N (4.5 each). Exits with 1 when a target is missed.
import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";

import { residentBytes } from "./processes.ts";
import { removeDirectory, startTrace, temporaryDirectory } from "./servers.ts";
import { percentile } from "./statistics.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: "string" }, megabytes: { type: "string" } },
});
const RUNS = Number(options.runs ?? 100);
const BYTES = Number(options.megabytes ?? 4.5) * 1e6;
const MAX_GROWTH = 300e6;
const MAX_WAIT_MS = 100;

interface Page {
  runs: { id: string; inputs: { text: string } }[];
  cursors: { next: string | null };
}

const directory = await temporaryDirectory();
const targets = new Targets();
try {
  const server = await startTrace(directory, "large-pages", { HEDDLE_RATE_LIMITS: "off" });
  const ask = async (method: string, path: string, body?: object): Promise<string> => {
    const response = await fetch(server.url + path, {
      method,
      headers: { "x-api-key": server.firstKey, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
    return text;
  };
  try {
    const project = JSON.parse(await ask("POST", "/sessions", { name: "large" })) as { id: string };
    const words = Array.from({ length: 4096 }, () => Math.random().toString(36).slice(2)).join(" ");
    const text = words.repeat(Math.ceil(BYTES / words.length)).slice(0, BYTES);
    for (let i = 0; i < RUNS; i++) {
      const start_time = new Date(Date.now() - i * 1000).toISOString();
      const run = { name: "large", run_type: "chain", start_time, end_time: start_time, session_name: "large" };
      await ask("POST", "/runs", { ...run, inputs: { text: `${i} ${text}` } });
    }
    // the memory of ingest is given back before that of reading is measured
    await sleep(3000);
    const before = residentBytes(server.pid);
    let peak = before;
    const waits: number[] = [];
    let reading = true;
    const sampling = (async () => {
      while (reading) {
        peak = Math.max(peak, residentBytes(server.pid));
        await sleep(20);
      }
    })();
    const probing = (async () => {
      while (reading) {
        const started = performance.now();
        await ask("GET", "/info");
        waits.push(performance.now() - started);
        await sleep(20);
      }
    })();
    const startedAt = performance.now();
    const ids = new Set<string>();
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const page = JSON.parse(await ask("POST", "/runs/query", { session: [project.id], cursor })) as Page;
      for (const run of page.runs) ids.add(run.id);
      cursor = page.cursors.next;
    }
    const seconds = (performance.now() - startedAt) / 1000;
    reading = false;
    await Promise.all([sampling, probing]);
    console.log(`${RUNS} runs of ${(BYTES / 1e6).toFixed(1)} MB read in ${seconds.toFixed(1)} s over ${pages} pages`);
    targets.report("runs that arrived", String(ids.size), ids.size === RUNS, String(RUNS));
    const growth = peak - before;
    targets.report("growth of resident memory", `${(growth / 1e6).toFixed(0)} MB`, growth <= MAX_GROWTH, "≤ 300 MB");
    const longest = Math.max(...waits);
    targets.report("longest wait of another request", `${longest.toFixed(0)} ms`, longest <= MAX_WAIT_MS, "≤ 100 ms");
    console.log(`the same, p95: ${percentile(waits, 0.95).toFixed(0)} ms`);
  } finally {
    await server.stop();
  }
} finally {
  await removeDirectory(directory);
}
process.exitCode = targets.missed ? 1 : 0;
