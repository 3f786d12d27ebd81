// npm run bench -- guard: the cost of key check, limits, client address and audit per request of the trace platform.
// Options: --quick. Exits with 1 when a target is missed.
//
// Two servers run side by side, one with everything on (keys, limits, a trusted proxy) and one with everything off, and
// answer the same route alternately, so that other load on the machine affects both alike.
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { Pool } from "undici";

import { residentMemory } from "./processes.ts";
import { removeDirectory, startTrace, temporaryDirectory, type TraceUnderTest } from "./servers.ts";
import { median, percentile } from "./statistics.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false } },
});
const SIZES = options.quick
  ? { turns: 10, each: 200, seconds: 3, distinct: 20_000 }
  : { turns: 40, each: 500, seconds: 10, distinct: 100_000 };

/** Route that authenticates the caller and then responds without a database. */
const ROUTE = "/api/v1/orgs/permissions";
const EVERYTHING_ON = {
  HEDDLE_AUTH: "required",
  HEDDLE_RATE_LIMITS: "on",
  HEDDLE_TRUSTED_PROXIES: "127.0.0.1",
  // a single key sends all requests
  HEDDLE_RATE_LIMITS_OVERRIDES: '{"default.key":"999999999/10"}',
};

type Ask = (headers: Record<string, string>) => Promise<number>;

function createRequester(pool: Pool): Ask {
  return async (headers) => {
    const { statusCode, body } = await pool.request({ method: "GET", path: ROUTE, headers });
    await body.dump();
    return statusCode;
  };
}

async function timed(ask: Ask, headers: Record<string, string>, times: number): Promise<number[]> {
  const samples: number[] = [];
  for (let n = 0; n < times; n++) {
    const startedAt = performance.now();
    const status = await ask(headers);
    samples.push(performance.now() - startedAt);
    if (status !== 200) throw new Error(`${ROUTE} answered ${status}`);
  }
  return samples;
}

async function measureCost(on: TraceUnderTest, off: TraceUnderTest, headers: Record<string, string>) {
  const pools = [new Pool(on.url, { connections: 1 }), new Pool(off.url, { connections: 1 })] as const;
  const samples: [number[], number[]] = [[], []];
  try {
    for (const [side, pool] of pools.entries())
      await timed(createRequester(pool), side === 0 ? headers : {}, 2 * SIZES.each);
    for (let turn = 0; turn < SIZES.turns; turn++) {
      for (const [side, pool] of pools.entries()) {
        samples[side]!.push(...(await timed(createRequester(pool), side === 0 ? headers : {}, SIZES.each)));
      }
    }
  } finally {
    await Promise.all(pools.map((pool) => pool.close()));
  }
  const [guarded, bare] = samples;
  return { guarded: median(guarded), p95: percentile(guarded, 0.95), bare: median(bare) };
}

/** Returns a server's CPU time so far, in seconds. */
async function processorTime(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(metrics)?.[1]);
}

/** Measures requests per second with 64 connections, and the server's CPU time per request in ms. */
async function throughput({ url }: TraceUnderTest, headers: Record<string, string>) {
  const pool = new Pool(url, { connections: 64 });
  const ask = createRequester(pool);
  let running = true;
  let answered = 0;
  let rejected = 0;
  const clients = Array.from({ length: 64 }, async () => {
    while (running) {
      if ((await ask(headers)) === 200) answered++;
      else rejected++;
    }
  });
  await sleep(1000);
  const processorBefore = await processorTime(url);
  const [before, began] = [answered, performance.now()];
  await sleep(SIZES.seconds * 1000);
  const perSecond = ((answered - before) / (performance.now() - began)) * 1000;
  const processor = (((await processorTime(url)) - processorBefore) / (answered - before)) * 1000;
  running = false;
  await Promise.all(clients);
  await pool.close();
  if (rejected > 0) throw new Error(`${rejected} requests were not answered with 200`);
  return { perSecond, processor };
}

/** Measures the growth of resident memory by that many keys, each from a separate address, in bytes. */
async function measureMemory({ url, pid }: TraceUnderTest): Promise<number> {
  const pool = new Pool(url, { connections: 16 });
  const ask = createRequester(pool);
  let next = 0;
  const send = (count: number, nameHeaders: (n: number) => Record<string, string>) => {
    const end = next + count;
    return Promise.all(
      Array.from({ length: 16 }, async () => {
        while (next < end) await ask(nameHeaders(next++));
      }),
    );
  };
  // as many requests of one caller first: their effect on the heap and the engine does not depend on the callers
  await send(2 * SIZES.distinct, () => ({ "x-api-key": "one and the same", "x-forwarded-for": "10.0.0.1" }));
  const before = await settled(pid);
  await send(SIZES.distinct, (n) => ({
    "x-api-key": `key number ${n}`,
    "x-forwarded-for": `11.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
  }));
  await send(SIZES.distinct, (n) => ({ "x-forwarded-for": `12.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}` }));
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const buckets = Number(/^heddle_rate_limit_buckets (\d+)/m.exec(metrics)?.[1]);
  if (buckets < 2 * SIZES.distinct) throw new Error(`only ${buckets} buckets for ${2 * SIZES.distinct} holders`);
  await pool.close();
  return (await settled(pid)) - before;
}

/** Returns resident memory after V8 had an idle moment for garbage collection. */
async function settled(pid: number): Promise<number> {
  await sleep(15_000);
  return residentMemory(pid).own;
}

const directory = await temporaryDirectory();
const running: TraceUnderTest[] = [];
const start = async (name: string, env: Record<string, string>) => {
  const server = await startTrace(directory, name, env);
  running.push(server);
  return server;
};
const loadBefore = loadavg()[0]!;
let missed = false;
const line = (label: string, value: string, target = "", good = true) => {
  console.log(`${label.padEnd(46)} ${value.padStart(12)}  ${target.padEnd(14)} ${target && (good ? "PASS" : "FAIL")}`);
  missed ||= !good;
};
try {
  console.error("guard: cost");
  const limited = await start("on", EVERYTHING_ON);
  const off = await start("off", { HEDDLE_AUTH: "off", HEDDLE_RATE_LIMITS: "off" });
  const headers = { "x-api-key": limited.firstKey, "x-forwarded-for": "203.0.113.1" };
  const { guarded, p95, bare } = await measureCost(limited, off, headers);
  console.error("guard: throughput");
  await off.stop();
  const { perSecond, processor } = await throughput(limited, headers);
  await limited.stop();
  console.error("guard: memory");
  // without authentication any text is a key, so none has to be created first
  const open = await start("open", {
    HEDDLE_AUTH: "off",
    HEDDLE_RATE_LIMITS: "on",
    HEDDLE_TRUSTED_PROXIES: "127.0.0.1",
    // long enough that no window ends while the keys are sent
    HEDDLE_RATE_LIMITS_OVERRIDES: '{"default.key":"1000/3600","public":"100/3600"}',
  });
  const memory = (await measureMemory(open)) / 1e6;

  console.log(`Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? "?"}), ${ROUTE}\n`);
  line("without keys and limits: median", `${bare.toFixed(3)} ms`);
  line("with keys and limits: median", `${guarded.toFixed(3)} ms`);
  line("with keys and limits: p95", `${p95.toFixed(3)} ms`);
  line("cost of keys and limits", `${(guarded - bare).toFixed(3)} ms`, "< 0.3 ms", guarded - bare < 0.3);
  line("64 clients, keys and limits on", `${perSecond.toFixed(0)} /s`, ">= 3000 /s", perSecond >= 3000);
  line("  CPU time per request", `${processor.toFixed(3)} ms`);
  const distinct = SIZES.distinct.toLocaleString("en");
  line(`growth by ${distinct} keys and ${distinct} addresses`, `${memory.toFixed(0)} MB`, "< 100 MB", memory < 100);
  if (loadBefore > 1)
    console.log(`\nThe machine was busy before (load ${loadBefore.toFixed(1)}): these measurements are worth little.`);
} finally {
  for (const server of running) await server.stop();
  await removeDirectory(directory);
}
process.exitCode = missed ? 1 : 0;
