// npm run bench -- large-bodies: memory of the trace platform while clients send large bodies at once, and after.
// Options: --bodies N (12), --megabytes N (25 each), --gzip. Exits with 1 when a target is missed.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

import { residentBytes } from "./processes.ts";
import { removeDirectory, startTrace, temporaryDirectory } from "./servers.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: { bodies: { type: "string" }, megabytes: { type: "string" }, gzip: { type: "boolean", default: false } },
});
const BODIES = Number(options.bodies ?? 12);
const BYTES = Number(options.megabytes ?? 25) * 1e6;
/** Clients of the platform send a body of at most 20 MB as several runs. */
const RUNS = 5;
const MAX_PEAK = 600e6;
const MAX_LEFT = 100e6;

const directory = await temporaryDirectory();
const targets = new Targets();
try {
  const server = await startTrace(directory, "large-bodies", { HEDDLE_RATE_LIMITS: "off" });
  const send = async (body: Buffer): Promise<number> => {
    for (;;) {
      const response = await fetch(`${server.url}/runs/batch`, {
        method: "POST",
        headers: {
          "x-api-key": server.firstKey,
          "content-type": "application/json",
          ...(options.gzip && { "content-encoding": "gzip" }),
        },
        body: new Uint8Array(options.gzip ? gzipSync(body, { level: 1 }) : body),
      });
      const text = await response.text();
      if (response.status === 429 || response.status === 503) await sleep(1000);
      else if (response.status === 202) return response.status;
      else throw new Error(`${response.status} ${text.slice(0, 200)}`);
    }
  };
  const words = Array.from({ length: 65_536 }, () => Math.random().toString(36).slice(2)).join(" ");
  const text = words.repeat(Math.ceil(BYTES / words.length)).slice(0, BYTES / RUNS);
  const bodyOf = (n: number): Buffer => {
    const post = Array.from({ length: RUNS }, (_, i) => ({
      id: crypto.randomUUID(),
      name: `large ${n}`,
      run_type: "chain",
      start_time: new Date(Date.now() - i * 1000).toISOString(),
      end_time: new Date().toISOString(),
      session_name: "large bodies",
      inputs: { text: `${n} ${text}` },
      outputs: {},
    }));
    return Buffer.from(JSON.stringify({ post }));
  };
  try {
    // opens the engine, and compiles what a request needs
    for (let i = 0; i < 20; i++) await send(Buffer.from('{"post":[]}'));
    await fetch(`${server.url}/sessions`, { headers: { "x-api-key": server.firstKey } });
    await sleep(2000);
    const before = residentBytes(server.pid);
    const bodies = Array.from({ length: BODIES }, (_, n) => bodyOf(n));
    let peak = before;
    let sending = true;
    const sampling = (async () => {
      while (sending) {
        peak = Math.max(peak, residentBytes(server.pid));
        await sleep(20);
      }
    })();
    const startedAt = performance.now();
    await Promise.all(bodies.map(send));
    const seconds = (performance.now() - startedAt) / 1000;
    sending = false;
    await sampling;
    let left = residentBytes(server.pid) - before;
    for (let waited = 0; waited < 30 && left > MAX_LEFT; waited++) {
      await sleep(1000);
      left = Math.min(left, residentBytes(server.pid) - before);
    }
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
    console.log(
      `${BODIES} bodies of ${megabytes(BYTES)} stored in ${seconds.toFixed(1)} s; ${megabytes(before)} before`,
    );
    targets.report("peak of resident memory", megabytes(peak), peak <= MAX_PEAK, "≤ 600 MB");
    targets.report("growth after 30 s at most", megabytes(left), left <= MAX_LEFT, "≤ 100 MB");
  } finally {
    await server.stop();
  }
} finally {
  await removeDirectory(directory);
}
process.exitCode = targets.missed ? 1 : 0;
