/**
 * npm run bench -- rest: memory of the whole process tree of `npm start` once it has been idle for 30 s, and the time that its first
 * and second start take until `/ok`. Memory is the proportional set size: shared pages are counted once. Linux only.
 * Options: --idle SECONDS (30), --compiled (the published package's files instead of the sources; `npm run build`
 * first), --rounds N (further starts, whose median is printed).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { memoryOfTree, type ProcessMemory, processorTime } from "./processes.ts";
import { freePort } from "../test/free-port.ts";
import { answersOk, removeDirectory, temporaryDirectory } from "./servers.ts";
import { median } from "./statistics.ts";

const TARGET_MB = 450;
const FIRST_START_MS = 5000;
const SECOND_START_MS = 2000;

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    idle: { type: "string", default: "30" },
    rounds: { type: "string", default: "1" },
    compiled: { type: "boolean", default: false },
  },
});
const root = fileURLToPath(new URL("..", import.meta.url));

interface Tree {
  pid: number;
  /** From spawn to the first 200 of `/ok`, in milliseconds. */
  startMs: number;
  /** Processor time of all processes until then, in milliseconds. */
  processorMs: number;
  stop(): Promise<void>;
}

async function startTree(directory: string): Promise<Tree> {
  const [port, tracePort, consolePort] = await Promise.all([freePort(), freePort(), freePort()]);
  const args = ["--port", `${port}`, "--trace-port", `${tracePort}`, "--console-port", `${consolePort}`];
  const dataDir = join(directory, "data");
  const command = options.compiled
    ? [process.execPath, join(root, "dist/cli/src/main.js"), "dev", "--config", join(root, "examples/langgraph.json")]
    : ["npm", "start", "--silent", "--"];
  const log = await open(join(directory, "start.log"), "a");
  const started = performance.now();
  const child = spawn(command[0]!, [...command.slice(1), ...args], {
    cwd: root,
    env: { ...process.env, HEDDLE_DATA_DIR: dataDir },
    stdio: ["ignore", log.fd, log.fd],
    detached: true,
  });
  await log.close();
  const stop = () => stopTree(child);
  while (!(await answersOk(`http://127.0.0.1:${port}`))) {
    if (child.exitCode !== null || performance.now() - started > 60_000) {
      await stop();
      throw new Error(`npm start did not answer /ok:\n${await readFile(join(directory, "start.log"), "utf8")}`);
    }
    await sleep(5);
  }
  const startMs = performance.now() - started;
  return { pid: child.pid!, startMs, processorMs: processorTime([child.pid!]), stop };
}

/** Interrupts the process group, as Ctrl-C does. */
async function stopTree(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-child.pid!, "SIGINT");
  await exited;
}

/** Resolves when the tree has come to rest: it uses less than a twentieth of a processor. */
async function untilIdle(pids: number[]): Promise<void> {
  const SAMPLE_MS = 3000;
  const deadline = performance.now() + 120_000;
  while (performance.now() < deadline) {
    const before = processorTime(pids);
    await sleep(SAMPLE_MS);
    if (processorTime(pids) - before < SAMPLE_MS / 20) return;
  }
  throw new Error("npm start did not come to rest");
}

async function postmaster(directory: string): Promise<number[]> {
  const file = join(directory, "data/postgres/data/postmaster.pid");
  return [Number((await readFile(file, "utf8")).split("\n")[0])];
}

/** Names the part of the tree that a command line belongs to. */
function partOf({ command }: ProcessMemory): string {
  if (/graph-host\/src\/main/.test(command)) return "graph host";
  if (/serve --role trace/.test(command)) return "trace platform";
  if (/esbuild/.test(command)) return "esbuild";
  if (/postgres/.test(command)) return "Postgres";
  if (/scripts\/start\.mjs|cli\/src\/main/.test(command) && !/^(npm|sh) /.test(command)) return "launcher";
  return "npm and shells";
}

const directory = await temporaryDirectory();
let missed = false;
const check = (label: string, value: number, target: number, unit: string) => {
  const passes = value <= target;
  missed ||= !passes;
  console.log(`${label}: ${Math.round(value)} ${unit} (<= ${target}${passes ? "" : ": missed"})`);
};
try {
  await mkdir(join(directory, "data"));
  const first = await startTree(directory);
  await untilIdle([first.pid, ...(await postmaster(directory))]);
  await sleep(Number(options.idle) * 1000);
  const processes = memoryOfTree([first.pid, ...(await postmaster(directory))]);
  const parts = new Map<string, ProcessMemory[]>();
  for (const entry of processes) parts.set(partOf(entry), [...(parts.get(partOf(entry)) ?? []), entry]);
  for (const [part, members] of parts) {
    const sizes = members.map(({ pss }) => pss / 1024 / 1024);
    const sum = sizes.reduce((total, size) => total + size, 0).toFixed(0);
    const each = members.length < 5 ? `: ${sizes.map((size) => size.toFixed(0)).join(", ")}` : "";
    console.log(`  ${part.padEnd(16)} ${sum.padStart(4)} MB in ${members.length} processes${each}`);
  }
  const total = processes.reduce((sum, { pss }) => sum + pss, 0) / 1024 / 1024;
  check(`idle for ${options.idle} s, shared pages counted once`, total, TARGET_MB, "MB");
  await first.stop();
  const later: Tree[] = [];
  for (let n = 0; n < Number(options.rounds); n++) {
    const next = await startTree(directory);
    later.push(next);
    await sleep(3000);
    await next.stop();
  }
  check("first start to /ok", first.startMs, FIRST_START_MS, "ms");
  const of = (pick: (tree: Tree) => number) => median(later.map(pick));
  check(
    "second start to /ok",
    of(({ startMs }) => startMs),
    SECOND_START_MS,
    "ms",
  );
  console.log(`processor time of these starts: ${first.processorMs} ms, ${of(({ processorMs }) => processorMs)} ms`);
} finally {
  await removeDirectory(directory);
}
process.exitCode = missed ? 1 : 0;
