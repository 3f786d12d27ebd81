/**
 * npm run bench -- streams [--quick]: the cost of many open streams.
 *
 * 1. Server memory with 1,000 idle readers, above the baseline: of silent runs, and of threads.
 * 2. 450 readers of nine runs beside 50 more: latency of frames to the 450 (p99, from the graph's clock to the
 *    reader's) while the 50 read like the others, and while they have stalled on a run that floods them, so that
 *    their sockets are full. Alternating over the same 450 connections, as a ratio; the flood continues throughout.
 *    Server memory and CPU time as well.
 *
 * Exits with 1 when 1,000 idle streams take 100 MB or more, or when stalled readers worsen the others' p99 by more than
 * the rounds vary anyway. Takes at most two minutes.
 */
import { Agent, get, type IncomingMessage } from "node:http";
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import { AgentClient } from "./client.ts";
import { processorTime, residentMemory } from "./processes.ts";
import { removeDirectory, type ServerUnderTest, startHeddle, temporaryDirectory } from "./servers.ts";
import { median, percentile } from "./statistics.ts";

const quick = process.argv.includes("--quick");
const IDLE = 1000;
const IDLE_LIMIT_MB = 100;
const PAIRS = quick ? 2 : 6;
/** Latest start of a pair after the beginning, so that the whole ends within two minutes on a busy machine, too. */
const LAST_BEGIN_MS = 90_000;
const SETTLE_MS = 1500;
const WINDOW_MS = 3500;
const PAUSE_MS = 100;
const READERS = 450;
const STALLED = 50;
const RUNS = 9;
const FLOOD_CHARACTERS = 64_000;
/** More frames than can be sent in time: the runs end with the server. */
const ENDLESS = 100_000;

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

/** Returns the server's resident memory once it has settled, in MB: the minimum of several samples. */
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
  // exclude the one-time cost of the first connections
  for (const response of await openAll(urls.slice(0, 100))) response.resume().destroy();
  const before = await settled(server);
  const readers = await openAll(urls);
  for (const response of readers) response.resume();
  const after = await settled(server);
  for (const response of readers) response.destroy();
  await sleep(500);
  return after - before;
}

/** Reports the latency of each custom frame in ms; ends with the stream. */
async function lateness(response: IncomingMessage, report: (ms: number) => void): Promise<void> {
  let rest = "";
  try {
    for await (const chunk of response) {
      const now = Date.now();
      const parts = (rest + String(chunk)).split("\n\n");
      rest = parts.pop()!;
      for (const part of parts) {
        const at = /"at":(\d+)/.exec(part);
        if (at) report(now - Number(at[1]));
      }
    }
  } catch {
    // cut at the end of a round
  }
}

interface Turn {
  p99: number;
  median: number;
  /** Server CPU time per frame of the 450, in milliseconds. */
  cost: number;
  memory: number;
}

class Readers {
  readonly #server: ServerUnderTest;
  readonly #runs: string[];
  readonly #flood: string;
  #late: number[] | undefined;
  /** Most data sent to one of the stalled readers, in MB. */
  taken = 0;

  private constructor(server: ServerUnderTest, runs: string[], flood: string) {
    this.#server = server;
    this.#runs = runs;
    this.#flood = flood;
  }

  static async open(server: ServerUnderTest, client: AgentClient, flood: string): Promise<Readers> {
    const input = { frames: ENDLESS, pause: PAUSE_MS, size: 100 };
    const runs = await Promise.all(Array.from({ length: RUNS }, () => tick(client, input)));
    const readers = new Readers(server, runs, flood);
    const opened = await openAll(readers.#urls(READERS));
    for (const response of opened) void lateness(response, (ms) => readers.#late?.push(ms));
    return readers;
  }

  #urls = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => `${this.#server.url}${this.#runs[n % RUNS]!}/stream`);

  async turn(stalled: boolean): Promise<Turn> {
    const floods = Array.from({ length: STALLED }, () => `${this.#server.url}${this.#flood}/stream`);
    const others = await openAll(stalled ? floods : this.#urls(STALLED));
    if (!stalled) for (const response of others) void lateness(response, () => {});
    await sleep(SETTLE_MS);
    const late: number[] = [];
    const before = processorTime([this.#server.pid!]);
    this.#late = late;
    await sleep(WINDOW_MS);
    this.#late = undefined;
    const cost = (processorTime([this.#server.pid!]) - before) / late.length;
    const memory = megabytes(residentMemory(this.#server.pid!).own);
    if (stalled) this.taken = Math.max(this.taken, ...others.map(({ socket }) => megabytes(socket.bytesRead)));
    for (const response of others) response.destroy();
    // half of the expected frames: the machine may be busy, but a stalled server is not a measurement
    if (late.length < (READERS * WINDOW_MS) / PAUSE_MS / 2) throw new Error(`only ${late.length} frames came`);
    return { p99: percentile(late, 0.99), median: median(late), cost, memory };
  }
}

const directory = await temporaryDirectory();
const server = await startHeddle(directory);
const client = new AgentClient(server.url);
const startedAt = performance.now();
let failed = false;
try {
  for (let n = 0; n < 200; n++) await client.echo(await client.newThread());
  // floods from now on, so that sockets are full when readers stall
  const flood = await tick(client, { frames: ENDLESS, pause: PAUSE_MS, size: FLOOD_CHARACTERS });
  const flooding = performance.now();
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

  const readers = await Readers.open(server, client, flood);
  const turns: Record<"reading" | "stalled", Turn[]> = { reading: [], stalled: [] };
  await readers.turn(false);
  for (let n = 0; n < PAIRS && (n < 2 || performance.now() - startedAt < LAST_BEGIN_MS); n++) {
    // alternate which goes first
    for (const stalled of n % 2 === 0 ? [false, true] : [true, false])
      turns[stalled ? "stalled" : "reading"].push(await readers.turn(stalled));
  }
  const flooded = ((performance.now() - flooding) / PAUSE_MS) * megabytes(FLOOD_CHARACTERS);
  const of = (which: keyof typeof turns, value: (turn: Turn) => number) => turns[which].map(value);
  const middle = (which: keyof typeof turns, value: (turn: Turn) => number) => median(of(which, value));
  const p99 = (turn: Turn) => turn.p99;
  const ratio = middle("stalled", p99) / middle("reading", p99);
  const noise = Math.max(...of("reading", p99)) / Math.min(...of("reading", p99));
  const passed = ratio <= Math.max(noise, 1.25);
  failed ||= !passed;
  for (const which of ["reading", "stalled"] as const) {
    const list = of(which, p99).map((ms) => ms.toFixed(0));
    console.log(
      `${READERS} readers while ${STALLED} others ${which === "reading" ? "read " : "stall"}: late by ${middle(which, (t) => t.median).toFixed(0)} ms, p99 ${middle(which, p99).toFixed(0)} ms (${list.join(", ")}); ` +
        `${(middle(which, (t) => t.cost) * 1000).toFixed(0)} us of CPU time per frame, server ${middle(which, (t) => t.memory).toFixed(0)} MB`,
    );
  }
  console.log(
    `p99, ratio ${ratio.toFixed(2)} (turns without stalled readers differ by ${noise.toFixed(2)}): ${passed ? "PASS" : "FAIL"}. ` +
      `A stalled reader took ${readers.taken.toFixed(1)} of ${flooded.toFixed(0)} MB.`,
  );
  console.log(
    `${((performance.now() - startedAt) / 1000).toFixed(0)} s, load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`,
  );
} finally {
  await client.close();
  await server.stop();
  await removeDirectory(directory);
}
process.exitCode = failed ? 1 : 0;
