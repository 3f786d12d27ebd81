/**
 * npm run bench -- tokens [--quick]: a stream of 1,000 tokens that a graph writes as fast as it can, with 1, 10 and 100
 * readers, beside the graph's own stream in a process without a server, by turns: the time until the last reader has the
 * last token, and the processor time of the server and its hosts. Then the memory of 5,000 readers of a silent run. Exits
 * with 1 when one reader takes more than 1.3 times as long as the graph alone, or the 5,000 take more than 150 MB.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Pool } from "undici";

import type { BareStream } from "./bare-stream.ts";
import { AgentClient } from "./client.ts";
import { processorTime, residentMemory } from "./processes.ts";
import { removeDirectory, startHeddle, temporaryDirectory } from "./servers.ts";
import { median } from "./statistics.ts";
import { Targets } from "./targets.ts";

const quick = process.argv.includes("--quick");
const TOKENS = 1000;
const READERS = [1, 10, 100];
const ROUNDS = quick ? 5 : 15;
const WARM_UP = quick ? 10 : 60;
const IDLE = 5000;
const MOST = { ratio: 1.3, idle: 150e6 };

const script = fileURLToPath(new URL("bare-stream.ts", import.meta.url));
const bare = fork(script, { execArgv: ["--import", "tsx"] });
const alone = async (): Promise<BareStream> => {
  bare.send(TOKENS);
  return ((await once(bare, "message")) as [BareStream])[0];
};
const directory = await temporaryDirectory();
const server = await startHeddle(directory);
const client = new AgentClient(server.url);
const targets = new Targets();
const pool = new Pool(server.url, { connections: IDLE + 100, bodyTimeout: 0, headersTimeout: 0 });
const loadBefore = loadavg()[0]!;

/** Reads a stream to its end, and returns the number of its custom frames. */
async function read(path: string, body?: object): Promise<number> {
  const headers = { "content-type": "application/json" };
  const request = body ? { method: "POST" as const, headers, body: JSON.stringify(body) } : { method: "GET" as const };
  const response = await pool.request({ path, ...request });
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
  let frames = 0;
  let rest = "";
  for await (const chunk of response.body) {
    const parts = (rest + String(chunk)).split("event: custom");
    frames += parts.length - 1;
    rest = parts.at(-1)!.slice(-20);
  }
  return frames;
}

async function streamed(readers: number): Promise<BareStream> {
  const thread = await client.newThread();
  const input = { frames: TOKENS, pause: 0 };
  const body = { assistant_id: "ticker", input, stream_mode: ["custom"], on_disconnect: "continue" };
  const before = processorTime([server.pid!]);
  const startedAt = performance.now();
  const first = read(`/threads/${thread}/runs/stream`, { ...body, stream_resumable: readers > 1 });
  const others = readers > 1 ? await joined(thread, readers - 1) : [];
  const counts = await Promise.all([first, ...others]);
  const ms = performance.now() - startedAt;
  if (counts.some((count) => count !== TOKENS))
    throw new Error(`streams brought ${[...new Set(counts)].join(", ")} frames`);
  return { ms, cpu: processorTime([server.pid!]) - before };
}

async function joined(thread: string, readers: number): Promise<Promise<number>[]> {
  for (;;) {
    const [run] = await client.get<{ run_id: string }[]>(`/threads/${thread}/runs`);
    if (run) {
      const path = `/threads/${thread}/runs/${run.run_id}/stream?last_event_id=-1`;
      return Array.from({ length: readers }, () => read(path));
    }
    await sleep(1);
  }
}

try {
  console.log(
    `${TOKENS} tokens, Node ${process.version}, ${cpus().length} cores, load before ${loadBefore.toFixed(1)}\n`,
  );
  for (let n = 0; n < WARM_UP; n++) await Promise.all([alone(), streamed(1)]);
  console.log(
    `${"readers".padStart(8)} ${"ms".padStart(8)} ${"alone".padStart(8)} ${"ratio".padStart(6)} ${"CPU ms".padStart(8)} ${"alone".padStart(8)}`,
  );
  for (const readers of READERS) {
    await streamed(readers);
    const [own, other] = [[] as BareStream[], [] as BareStream[]];
    for (let n = 0; n < ROUNDS; n++) {
      own.push(await streamed(readers));
      other.push(await alone());
    }
    const middle = (list: BareStream[], key: keyof BareStream) => median(list.map((one) => one[key]));
    const ratio = median(own.map(({ ms }, n) => ms / other[n]!.ms));
    const cells = [middle(own, "ms"), middle(other, "ms")].map((value) => value.toFixed(1).padStart(8));
    const processor = [middle(own, "cpu"), middle(other, "cpu")].map((value) => value.toFixed(1).padStart(8));
    console.log(
      `${String(readers).padStart(8)} ${cells.join(" ")} ${ratio.toFixed(2).padStart(6)} ${processor.join(" ")}`,
    );
    if (readers === 1)
      targets.report(
        "one reader, relative to the graph alone",
        ratio.toFixed(2),
        ratio <= MOST.ratio,
        `<= ${MOST.ratio}`,
      );
  }
  const thread = await client.newThread();
  const silent = { assistant_id: "ticker", input: { frames: 1, pause: 600_000 }, stream_mode: ["custom"] };
  const { run_id } = await client.post<{ run_id: string }>(`/threads/${thread}/runs`, silent);
  const memory = () => residentMemory(server.pid!).own;
  const before = memory();
  const responses = [];
  for (let at = 0; at < IDLE; at += 50) {
    const path = `/threads/${thread}/runs/${run_id}/stream`;
    responses.push(...(await Promise.all(Array.from({ length: 50 }, () => pool.request({ path, method: "GET" })))));
  }
  await sleep(3000);
  const grown = memory() - before;
  targets.report(`memory of ${IDLE} idle readers`, `${(grown / 1e6).toFixed(0)} MB`, grown <= MOST.idle, "<= 150 MB");
  for (const { body } of responses) body.on("error", () => {}).destroy();
} finally {
  bare.disconnect();
  await Promise.all([client.close(), pool.destroy()]);
  await server.stop();
  await removeDirectory(directory);
}
process.exitCode = targets.missed ? 1 : 0;
