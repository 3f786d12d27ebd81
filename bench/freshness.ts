// npm run bench -- freshness: queries of the newest roots while runs of 2 kB arrive, and the time from the
// acknowledgement of a run until queries return it. Options: --rate N (runs per second, 5000), --seconds N (60),
// --quick (15 s). Exits with 1 when a target is missed.
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { Pool } from "undici";

import { BATCH, multipartBody } from "./ingest-load.ts";
import { removeDirectory, startTrace, temporaryDirectory } from "./servers.ts";
import { median, percentile } from "./statistics.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: { rate: { type: "string" }, seconds: { type: "string" }, quick: { type: "boolean", default: false } },
});
const RATE = Number(options.rate ?? 5000);
const SECONDS = Number(options.seconds ?? (options.quick ? 15 : 60));
/** Requests under way; beyond them the machine cannot take the rate, and the client waits. */
const CONNECTIONS = 8;
const PAUSE_MS = 200;
/** Requests whose last run is looked up after its acknowledgement: one in so many. */
const PROBED = 10;
const TABLE = ["id", "name", "status", "start_time", "end_time", "inputs_preview", "outputs_preview", "total_tokens"];

const directory = await temporaryDirectory();
const targets = new Targets();
const loadBefore = loadavg()[0]!;
try {
  const server = await startTrace(directory, "freshness", { HEDDLE_RATE_LIMITS: "off", UV_THREADPOOL_SIZE: "8" });
  const writers = new Pool(server.url, { connections: CONNECTIONS });
  const readers = new Pool(server.url, { connections: 16 });
  try {
    const ask = async (path: string, body: object): Promise<{ runs: { id: string }[]; id: string }> => {
      const headers = { "content-type": "application/json", "x-api-key": server.firstKey };
      const response = await readers.request({ method: "POST", path, headers, body: JSON.stringify(body) });
      const text = await response.body.text();
      if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text.slice(0, 200)}`);
      return JSON.parse(text) as { runs: { id: string }[]; id: string };
    };
    const { id } = await ask("/sessions", { name: "bench" });
    const session = [id];
    const newest = async (select: string[] | undefined, times: number[]) => {
      const startedAt = performance.now();
      await ask("/runs/query", { session, is_root: true, limit: 100, select });
      times.push(performance.now() - startedAt);
    };
    let stored = 0;
    let rejected = 0;
    const appeared: number[] = [];
    const probes: Promise<void>[] = [];
    const probe = async (run: string, acknowledged: number) => {
      for (;;) {
        const { runs } = await ask("/runs/query", { session, id: [run], select: ["id"] });
        const waited = performance.now() - acknowledged;
        if (runs.length > 0) return void appeared.push(waited);
        if (waited > 30_000) throw new Error(`Run ${run} was not found 30 s after its acknowledgement.`);
        await sleep(10);
      }
    };
    const send = async (n: number) => {
      const { body, type, ids } = multipartBody("bench");
      const headers = { "content-type": type, "x-api-key": server.firstKey };
      const response = await writers.request({ method: "POST", path: "/runs/multipart", headers, body });
      await response.body.text();
      if (response.statusCode !== 202) return void rejected++;
      stored += BATCH;
      if (n % PROBED === 0) probes.push(probe(ids.at(-1)!, performance.now()));
    };
    const ingest = async (seconds: number): Promise<number> => {
      const startedAt = performance.now();
      const before = stored;
      let n = 0;
      await Promise.all(
        Array.from({ length: CONNECTIONS }, async () => {
          while (performance.now() < startedAt + seconds * 1000) {
            const wait = startedAt + (n * BATCH * 1000) / RATE - performance.now();
            const own = n++;
            if (wait > 0) await sleep(wait);
            await send(own);
          }
        }),
      );
      return ((stored - before) / (performance.now() - startedAt)) * 1000;
    };
    await ingest(5);
    const whole: number[] = [];
    const table: number[] = [];
    let writing = true;
    const reading = (async () => {
      while (writing) {
        await newest(undefined, whole);
        await sleep(PAUSE_MS);
        await newest(TABLE, table);
        await sleep(PAUSE_MS);
      }
    })();
    await Promise.all(probes.splice(0));
    appeared.length = 0;
    const perSecond = await ingest(SECONDS);
    writing = false;
    await Promise.all([reading, ...probes]);
    const idle: number[] = [];
    for (let n = 0; n < 20; n++) await newest(undefined, idle);

    const ms = (value: number) => `${value.toFixed(0)} ms`;
    const both = (times: number[]) => `${ms(median(times))} / ${ms(percentile(times, 0.95))}`;
    console.log(
      `${stored.toLocaleString("en")} runs, ${perSecond.toFixed(0)} per second (asked: ${RATE}), ${rejected} requests rejected; ` +
        `${cpus().length} cores, load before ${loadBefore.toFixed(1)}`,
    );
    targets.report("newest 100 roots, whole, median", ms(median(whole)), median(whole) <= 100, "≤ 100 ms");
    targets.report("newest 100 roots, as a table, median", ms(median(table)), median(table) <= 100, "≤ 100 ms");
    const late = percentile(appeared, 0.99);
    targets.report("acknowledged to queryable, p99", ms(late), late <= 1000, "≤ 1 s");
    console.log(
      `median / p95 of ${whole.length}: whole ${both(whole)}, table ${both(table)}; after the ingest ${both(idle)}`,
    );
    console.log(`acknowledged to queryable, ${appeared.length} runs: ${both(appeared)}`);
  } finally {
    await Promise.all([writers.close(), readers.close()]);
    await server.stop();
  }
} finally {
  await removeDirectory(directory);
}
process.exitCode = targets.missed ? 1 : 0;
