/**
 * npm run bench -- streams [--quick]: what many open streams cost.
 *
 * 1. Memory of the server with 1,000 idle readers, above what it has without: of runs that are silent, and of threads.
 * 2. 450 readers of nine runs, beside 50 readers of one that floods: how late frames come (p99, from the graph's
 *    clock to the reader's) while those 50 read, and while they have stopped reading. In turns, as a ratio.
 *
 * Ends with 1 when 1,000 idle streams take 100 MB or more, or when stalled readers make the others' p99 worse
 * than the rounds differ among themselves.
 */
import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { AgentClient } from "./client.ts";
import { residentMemory } from "./processes.ts";
import { removeDirectory, type ServerUnderTest, startHeddle, temporaryDirectory } from "./servers.ts";
import { median, percentile } from "./statistics.ts";

const quick = process.argv.includes("--quick");
const IDLE = 1000;
const IDLE_LIMIT_MB = 100;
const ROUNDS = quick ? 2 : 6;
const ROUND_FRAMES = quick ? 80 : 150;
const PAUSE_MS = 100;
const FLOOD_CHARACTERS = 64_000;

const connections = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: connections }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`${url}: ${response.statusCode}`));
    });
    request.on("error", reject);
  });
}

async function openAll(urls: string[]): Promise<IncomingMessage[]> {
  const opened: IncomingMessage[] = [];
  for (let at = 0; at < urls.length; at += 50) opened.push(...(await Promise.all(urls.slice(at, at + 50).map(open))));
  for (const response of opened) response.on("error", () => {});
  return opened;
}

const megabytes = (bytes: number): number => bytes / 1024 / 1024;

/** Resident memory of the server process once it has settled, in MB: the least of some looks. */
async function settled(server: ServerUnderTest): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < 6; n++) {
    await sleep(500);
    least = Math.min(least, megabytes(residentMemory(server.pid!).own));
  }
  return least;
}

async function tick(client: AgentClient, input: object): Promise<string> {
  const thread = await client.newThread();
  const body = { assistant_id: "ticker", input, stream_mode: ["custom"] };
  const { run_id } = await client.post<{ run_id: string }>(`/threads/${thread}/runs`, body);
  return `/threads/${thread}/runs/${run_id}`;
}

async function idle(server: ServerUnderTest, urls: string[]): Promise<number> {
  // what the first connections cost once
  for (const response of await openAll(urls.slice(0, 100))) response.resume().destroy();
  const before = await settled(server);
  const readers = await openAll(urls);
  for (const response of readers) response.resume();
  const after = await settled(server);
  for (const response of readers) response.destroy();
  await sleep(500);
  return after - before;
}

/** How late each custom frame came, in ms; ends with the stream. */
async function lateness(response: IncomingMessage, into: number[]): Promise<void> {
  let rest = "";
  for await (const chunk of response) {
    const now = Date.now();
    const parts = (rest + String(chunk)).split("\n\n");
    rest = parts.pop()!;
    for (const part of parts) {
      const at = /"at":(\d+)/.exec(part);
      if (at) into.push(now - Number(at[1]));
    }
  }
}

/** @returns p99 of the others, in ms */
async function round(client: AgentClient, url: string, stalled: boolean): Promise<number> {
  const input = { frames: ROUND_FRAMES, pause: PAUSE_MS, size: 100 };
  const runs = await Promise.all(Array.from({ length: 9 }, () => tick(client, input)));
  const flood = await tick(client, { ...input, size: FLOOD_CHARACTERS });
  const flooded = await openAll(Array.from({ length: 50 }, () => `${url}${flood}/stream`));
  const others = await openAll(runs.flatMap((run) => Array.from({ length: 50 }, () => `${url}${run}/stream`)));
  if (!stalled) for (const response of flooded) response.resume();
  const late: number[] = [];
  await Promise.all(others.map((response) => lateness(response, late)));
  for (const response of flooded) response.destroy();
  if (late.length < 450 * ROUND_FRAMES * 0.9) throw new Error(`only ${late.length} frames came`);
  // what was made before the readers were there came late for another reason
  return percentile(late.slice(Math.floor(late.length / 4)), 0.99);
}

const directory = await temporaryDirectory();
const server = await startHeddle(directory);
const client = new AgentClient(server.url);
let failed = false;
try {
  for (let n = 0; n < 200; n++) await client.echo(await client.newThread());
  const silent = await Promise.all(Array.from({ length: 20 }, () => tick(client, { frames: 1, pause: 600_000 })));
  const ofRuns = Array.from({ length: IDLE }, (_, n) => `${server.url}${silent[n % silent.length]!}/stream`);
  const threads = await Promise.all(Array.from({ length: IDLE }, () => client.newThread()));
  const ofThreads = threads.map((thread) => `${server.url}/threads/${thread}/stream`);
  for (const [name, urls] of [["runs", ofRuns] as const, ["threads", ofThreads] as const]) {
    const grown = await idle(server, urls);
    failed ||= grown >= IDLE_LIMIT_MB;
    console.log(`${IDLE} idle streams of ${name}: ${grown.toFixed(1)} MB above idle (limit ${IDLE_LIMIT_MB})`);
  }
  for (const run of silent) await client.post(`${run}/cancel`, {}).catch(() => {});

  const p99: Record<"reading" | "stalled", number[]> = { reading: [], stalled: [] };
  await round(client, server.url, false);
  for (let n = 0; n < ROUNDS; n++) {
    p99.reading.push(await round(client, server.url, false));
    p99.stalled.push(await round(client, server.url, true));
  }
  const ratio = median(p99.stalled) / median(p99.reading);
  const noise = Math.max(...p99.reading) / Math.min(...p99.reading);
  failed ||= ratio > Math.max(noise, 1.25);
  const list = (values: number[]) => values.map((value) => value.toFixed(0)).join(", ");
  console.log(
    `p99 of 450 readers, ms: ${list(p99.reading)} while the other 50 read, ${list(p99.stalled)} while they stall`,
  );
  console.log(`ratio ${ratio.toFixed(2)} (the rounds without stalled readers differ by ${noise.toFixed(2)})`);
} finally {
  await client.close();
  await server.stop();
  await removeDirectory(directory);
}
process.exitCode = failed ? 1 : 0;
