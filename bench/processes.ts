import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

interface Entry {
  pid: number;
  parent: number;
  rss: number;
}

function processTable(): Entry[] {
  const text = execFileSync("ps", ["-A", "-o", "pid=,ppid=,rss="], { encoding: "utf8" });
  return text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid, parent, rss]) => ({ pid: pid!, parent: parent!, rss: rss! * 1024 }));
}

/**
 * Returns resident memory in bytes: of the process itself, of the largest below it, and of the whole tree, where shared
 * memory is counted once (the proportional size; Postgres' processes share most of theirs).
 */
export function residentMemory(pid: number): { own: number; tree: number; largest: number } {
  const table = processTable();
  const members = below(table, [pid]);
  const sizes = table.filter((entry) => members.has(entry.pid));
  return {
    own: sizes.find((entry) => entry.pid === pid)?.rss ?? 0,
    tree: sizes.reduce((sum, entry) => sum + (proportionalMemory(entry.pid) ?? entry.rss), 0),
    largest: Math.max(0, ...sizes.map((entry) => entry.rss)),
  };
}

export interface ProcessMemory {
  pid: number;
  command: string;
  /** Proportional set size in bytes: its own pages, and its share of those that it shares. */
  pss: number;
}

/** Returns the memory of each of these processes and their descendants. Linux only. */
export function memoryOfTree(roots: number[]): ProcessMemory[] {
  const sizes: ProcessMemory[] = [];
  for (const pid of below(processTable(), roots)) {
    const pss = proportionalMemory(pid);
    if (pss === undefined) continue;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    sizes.push({ pid, command, pss });
  }
  return sizes;
}

/** Returns undefined for a process that has just ended, and where the kernel does not report it. */
function proportionalMemory(pid: number): number | undefined {
  try {
    return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))![1]) * 1024;
  } catch {
    return undefined;
  }
}

/** Returns resident memory of one process in bytes without spawning another, for frequent sampling. Linux only. */
export const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

/** Clock ticks of /proc are hundredths of a second on every Linux that Node runs on. */
const TICK_MS = 10;

/** Returns user and system time in milliseconds of these processes and their descendants, including ended ones. */
export const processorTime = (roots: number[]): number => sumTicks(below(processTable(), roots));

/** Returns the same by part: the first process, its descendants, and the second with its descendants. */
export function splitProcessorTimes(
  server: number,
  postmaster: number,
): { server: number; hosts: number; postgres: number } {
  const table = processTable();
  const postgres = below(table, [postmaster]);
  const hosts = [...below(table, [server])].filter((pid) => pid !== server && !postgres.has(pid));
  return { server: sumTicks([server]), hosts: sumTicks(hosts), postgres: sumTicks(postgres) };
}

/** Returns the same for a server that traces its runs, with the trace platform apart. */
export function tracedProcessorTimes(
  server: number,
  postmaster: number,
): { server: number; hosts: number; trace: number; postgres: number } {
  const all = splitProcessorTimes(server, postmaster);
  const traces = [...below(processTable(), [server])].filter(isTracePlatform);
  const trace = sumTicks(traces);
  return { ...all, hosts: all.hosts - trace, trace };
}

function isTracePlatform(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--role\0trace\0");
  } catch {
    return false;
  }
}

function sumTicks(pids: Iterable<number>): number {
  let ticks = 0;
  for (const pid of pids) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
      ticks += [11, 12, 13, 14].reduce((sum, n) => sum + Number(fields[n]), 0);
    } catch {
      // it has just ended, and is included in its parent's sum
    }
  }
  return ticks * TICK_MS;
}

/** Returns the processes and all below them. */
export const descendants = (roots: number[]): Set<number> => below(processTable(), roots);

/** Milliseconds on a core and ready for one, and the number of times the scheduler chose it. */
export interface ScheduledTime {
  busy: number;
  ready: number;
  slices: number;
}

/** Returns the times of each process since its start, over its threads. Linux only; ended processes are left out. */
export function scheduledTimes(pids: number[]): Map<number, ScheduledTime> {
  const times = new Map<number, ScheduledTime>();
  for (const pid of pids) {
    const time = { busy: 0, ready: 0, slices: 0 };
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const fields = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ").map(Number);
        time.busy += fields[0]! / 1e6;
        time.ready += fields[1]! / 1e6;
        time.slices += fields[2]!;
      }
    } catch {
      continue;
    }
    times.set(pid, time);
  }
  return times;
}

/** Adds to `total` what each process has used between two calls of `scheduledTimes`. */
export function addTimes(
  total: Map<number, ScheduledTime>,
  before: Map<number, ScheduledTime>,
  after: Map<number, ScheduledTime>,
): void {
  for (const [pid, { busy, ready, slices }] of after) {
    const from = before.get(pid);
    if (!from) continue;
    const sum = total.get(pid) ?? { busy: 0, ready: 0, slices: 0 };
    total.set(pid, {
      busy: sum.busy + busy - from.busy,
      ready: sum.ready + ready - from.ready,
      slices: sum.slices + slices - from.slices,
    });
  }
}

function below(table: Entry[], roots: number[]): Set<number> {
  const members = new Set(roots);
  for (let grown = true; grown;) {
    grown = false;
    for (const entry of table) {
      if (members.has(entry.parent) && !members.has(entry.pid)) {
        members.add(entry.pid);
        grown = true;
      }
    }
  }
  return members;
}
