/**
 * Copies runs from one trace platform to another with `heddle import traces`, prints the time, kills a copy in the
 * middle, continues it, repeats it, and compares every run of both.
 *
 *     node --import tsx scripts/faults/move-traces.ts [--runs 100000]
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { removeDirectory, startTrace, temporaryDirectory, type TraceUnderTest } from "../../bench/servers.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "100000" } } });
const RUNS = Number(values.runs);
const LAUNCHER = join(import.meta.dirname, "../../cli/bin/heddle.js");
const BATCH = 1000;
const START = Date.UTC(2026, 9, 1);

const directory = await temporaryDirectory();
const servers: TraceUnderTest[] = [];
try {
  for (const name of ["source", "target"]) servers.push(await startTrace(directory, name, {}));
  const [source, target] = servers as [TraceUnderTest, TraceUnderTest];
  const seeded = performance.now();
  await seed(source);
  console.log(`${RUNS} runs written in ${seconds(seeded)} s`);

  const first = performance.now();
  const child = startCopy(source, target);
  const ended = once(child, "exit");
  while (child.exitCode === null && (await countRuns(target)) < RUNS / 2) await sleep(500);
  child.kill("SIGKILL");
  await ended;
  console.log(`killed after ${seconds(first)} s with ${await countRuns(target)} runs`);
  const second = performance.now();
  console.log(`continued: ${await runCopy(source, target)}`);
  console.log(`continued for ${seconds(second)} s`);
  const third = performance.now();
  console.log(`repeated: ${await runCopy(source, target)}`);
  console.log(`repeated for ${seconds(third)} s`);

  const [theirs, ours] = await Promise.all([digest(source), digest(target)]);
  console.log(`source ${theirs.count} runs ${theirs.hash}\ntarget ${ours.count} runs ${ours.hash}`);
  if (theirs.hash !== ours.hash || ours.count !== RUNS) process.exitCode = 1;
} finally {
  for (const server of servers) await server.stop();
  await removeDirectory(directory);
}

function startCopy(source: TraceUnderTest, target: TraceUnderTest): ChildProcess {
  const args = ["import", "traces", "--from", source.url, "--from-key", source.firstKey, "--url", target.url];
  args.push("--api-key", target.firstKey, "--state", join(directory, "copy.json"));
  return spawn(process.execPath, [LAUNCHER, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

async function runCopy(source: TraceUnderTest, target: TraceUnderTest): Promise<string> {
  const child = startCopy(source, target);
  let output = "";
  child.stdout!.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  return `${output.trim()} (exit code ${code})`;
}

async function seed(server: TraceUnderTest): Promise<void> {
  for (let at = 0; at < RUNS; at += BATCH) {
    const post = Array.from({ length: Math.min(BATCH, RUNS - at) }, (_, n) => makeRun(at + n));
    await send(server, "/runs/batch", { post });
  }
}

function makeRun(n: number): object {
  const id = randomUUID();
  const start = new Date(START + n * 10).toISOString();
  return {
    ...{ id, trace_id: id, name: `run ${n % 7}`, run_type: "chain", session_name: "moved", start_time: start },
    dotted_order: `${start.replace(/[-:.Z]/g, "")}000Z${id}`,
    end_time: new Date(START + n * 10 + 5).toISOString(),
    inputs: { question: `question ${n} `.repeat(20) },
    outputs: { answer: `answer ${n} `.repeat(20) },
    extra: { metadata: { thread_id: `t${n % 1000}`, n } },
  };
}

async function send<T>(server: TraceUnderTest, path: string, body: object): Promise<T> {
  const headers = { "x-api-key": server.firstKey, "Content-Type": "application/json" };
  for (;;) {
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (response.ok) return (await response.json()) as T;
    if (response.status !== 429 && response.status !== 503) throw new Error(await response.text());
    await sleep(500);
  }
}

async function projectId(server: TraceUnderTest): Promise<string | undefined> {
  const response = await fetch(`${server.url}/sessions?name=moved`, { headers: { "x-api-key": server.firstKey } });
  return ((await response.json()) as { id: string }[])[0]?.id;
}

async function countRuns(server: TraceUnderTest): Promise<number> {
  const id = await projectId(server);
  if (id === undefined) return 0;
  const { run_count: count } = await send<{ run_count: number }>(server, "/runs/stats", { session: [id] });
  return count;
}

/** Hashes all runs in the order of their times. */
async function digest(server: TraceUnderTest): Promise<{ count: number; hash: string }> {
  const session = [(await projectId(server))!];
  const select = "id name start_time end_time status inputs outputs extra dotted_order trace_id".split(" ");
  const hash = createHash("sha256");
  let count = 0;
  let cursor: string | null = null;
  do {
    const page: { runs: Record<string, unknown>[]; cursors: { next: string | null } } = await send(
      server,
      "/runs/query",
      {
        ...{ session, select, order: "asc", limit: 100 },
        ...(cursor && { cursor }),
      },
    );
    for (const run of page.runs) hash.update(JSON.stringify(select.map((name) => run[name])));
    count += page.runs.length;
    cursor = page.cursors.next;
  } while (cursor !== null);
  return { count, hash: hash.digest("hex") };
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}
