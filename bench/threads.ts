// npm run bench -- threads: a conversation of 1,000 turns, beside LangGraph itself with its MemorySaver and without a
// saver, by turns. Options: --turns N, --json FILE. Exits with 1 when a target is missed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { AgentClient } from "./client.ts";
import { residentMemory } from "./processes.ts";
import { removeDirectory, startHeddle, temporaryDirectory } from "./servers.ts";
import { median, percentile } from "./statistics.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: { turns: { type: "string", default: "1000" }, json: { type: "string" } },
});
const TURNS = Number(options.turns);
/** Turns of each measured length, by turns with those of the library. */
const SAMPLES = 20;
const QUESTION = "q".repeat(250);

interface Measurement {
  label: string;
  value: number;
  unit: string;
  most?: number;
}
const measurements: Measurement[] = [];
const report = (label: string, value: number, unit: string, most?: number): void => {
  measurements.push({ label, value, unit, ...(most !== undefined && { most }) });
  const verdict = most === undefined ? "" : `  (<= ${round(most)}: ${value <= most ? "PASS" : "FAIL"})`;
  console.log(`${label.padEnd(66)}${String(round(value)).padStart(9)} ${unit}${verdict}`);
};
const round = (value: number): number => (value >= 100 ? Math.round(value) : Math.round(value * 100) / 100);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const question = { messages: [{ role: "user", content: QUESTION }] };

const streamed = (client: AgentClient, thread: string): Promise<number> =>
  timed(() => {
    const body = { assistant_id: "chat", input: question, stream_mode: ["updates"] };
    return client.stream(thread, body, ({ event }) => {
      if (event === "error") throw new Error("a turn failed");
    });
  });

const waited = (client: AgentClient, thread: string): Promise<number> =>
  timed(() => client.post(`/threads/${thread}/runs/wait`, { assistant_id: "chat", input: question }));

/** LangGraph itself at a given length. */
function libraryLoop(turns: number) {
  const path = fileURLToPath(new URL("chat-loop.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", path, String(turns)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async turn(): Promise<{ memory: number; none: number }> {
      child.stdin.write("\n");
      const { value, done } = await lines.next();
      if (done) throw new Error("the loop in LangGraph ended");
      return JSON.parse(value as string) as { memory: number; none: number };
    },
    async stop(): Promise<void> {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}

interface Storage {
  total_bytes: number;
  channel_values: { bytes: number; by_channel: Record<string, { bytes: number; versions: number }> };
}

/** Probes with short runs on another thread while `work` runs: the longest one shows what blocked a host or the server. */
async function blockedBy(client: AgentClient, thread: string, work: () => Promise<unknown>): Promise<number> {
  let over = false;
  const working = work().finally(() => (over = true));
  const times: number[] = [];
  while (!over) times.push(await timed(() => client.get("/ok")), await timed(() => client.echo(thread)));
  await working;
  return Math.max(...times);
}

const directory = await temporaryDirectory();
let server = await startHeddle(directory);
try {
  let client = new AgentClient(server.url);
  console.log(`${TURNS} turns of 250 bytes; load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`);
  const warm = await client.newThread();
  for (let n = 0; n < 60; n++) await streamed(client, n % 20 === 0 ? await client.newThread() : warm);
  for (let n = 0; n < 60; n++) await client.echo(warm);

  const first: number[] = [];
  for (let n = 0; n < SAMPLES; n++) first.push(await streamed(client, await client.newThread()));
  const firstTurn = median(first);
  report("first turn of a thread, streamed: median", firstTurn, "ms");

  const thread = await client.newThread();
  const marks = new Set([200, 500, TURNS].filter((mark) => mark <= TURNS));
  let before: Storage | undefined;
  for (let n = 1; n <= TURNS - SAMPLES; n++) {
    await streamed(client, thread);
    if (n === TURNS - SAMPLES - 100) before = await client.get<Storage>(`/threads/${thread}/storage`);
    if (!marks.has(n)) continue;
    const times: number[] = [];
    for (let sample = 0; sample < SAMPLES; sample++) times.push(await streamed(client, thread));
    n += SAMPLES;
    report(`turn ${n}, streamed: median`, median(times), "ms");
  }
  const after = await client.get<Storage>(`/threads/${thread}/storage`);

  const library = libraryLoop(TURNS - SAMPLES);
  const times = { streamed: [] as number[], waited: [] as number[], memory: [] as number[], none: [] as number[] };
  for (let n = 0; n < SAMPLES; n++) {
    times.streamed.push(await streamed(client, thread));
    const { memory, none } = await library.turn();
    times.memory.push(memory);
    times.none.push(none);
    times.waited.push(await waited(client, thread));
  }
  await library.stop();
  const longTurn = median(times.streamed);
  report(`turn ${TURNS}, streamed: median`, longTurn, "ms", Math.min(3 * firstTurn, median(times.memory)));
  report("  LangGraph with MemorySaver at this length", median(times.memory), "ms");
  report("  LangGraph without a saver", median(times.none), "ms");
  const state = await client.get<{ values: unknown }>(`/threads/${thread}/state`);
  const serialized: number[] = [];
  for (let n = 0; n < SAMPLES; n++) serialized.push(await timed(async () => JSON.parse(JSON.stringify(state.values))));
  report("  serializing and parsing its answer once in Node", median(serialized), "ms");
  report(`turn ${TURNS}, waited: median`, median(times.waited), "ms", median(times.memory));

  const added = 100 * 2 * 250;
  const grown = (of: (storage: Storage) => number): number => (of(after) - of(before!)) / added;
  report(
    "stored per new byte of text: channel values",
    grown((s) => s.channel_values.bytes),
    "bytes",
    3,
  );
  report(
    "stored per new byte of text: everything of the thread",
    grown((s) => s.total_bytes),
    "bytes",
  );
  report("channel values of the thread", after.channel_values.bytes / 2 ** 20, "MB");

  const reads: [string, () => Promise<unknown>, number][] = [
    ["state", () => client.download(`/threads/${thread}/state`), 25],
    ["10 states of its history", () => client.download(`/threads/${thread}/history`, { limit: 10 }), 50],
    ["100 states of its history", () => client.download(`/threads/${thread}/history`, { limit: 100 }), 400],
    ["the thread", () => client.download(`/threads/${thread}`), 25],
    ["a search that finds it", () => client.download("/threads/search", { limit: 10, status: "idle" }), 50],
  ];
  for (const [label, read, most] of reads) {
    const all: number[] = [];
    for (let n = 0; n < 7; n++) all.push(await timed(read));
    report(`${label}: first read`, all[0]!, "ms");
    report(`${label}: median`, median(all), "ms", most);
    const probe = await client.newThread();
    const alone = await blockedBy(client, probe, () => sleep(1000));
    const beside = await blockedBy(client, probe, async () => {
      for (let n = 0; n < 5; n++) await read();
    });
    report(`  longest short run meanwhile, more than alone`, Math.max(0, beside - alone), "ms", 50);
  }
  report("memory of all processes, with Postgres", residentMemory(server.pid!).tree / 2 ** 20, "MB");

  await client.close();
  await server.stop();
  server = await startHeddle(directory);
  client = new AgentClient(server.url);
  for (let n = 0; n < 60; n++) await client.echo(warm);
  report("first turn after a restart, streamed", await streamed(client, thread), "ms");
  const later: number[] = [];
  for (let n = 0; n < SAMPLES; n++) later.push(await streamed(client, thread));
  report("later turns: median", median(later), "ms", 3 * firstTurn);
  report("later turns: p95", percentile(later, 0.95), "ms");
  await client.close();
} finally {
  await server.stop();
  await removeDirectory(directory);
}
if (options.json) await writeFile(options.json, JSON.stringify(measurements, null, 2));
process.exitCode = measurements.some(({ value, most }) => most !== undefined && value > most) ? 1 : 0;
