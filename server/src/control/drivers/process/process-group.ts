import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { identifyProcess, isProcessAlive as isAlive } from "../../../base/db/process-identity.ts";
import type { InstanceProcess } from "../driver.ts";

export const isProcessAlive = (process: InstanceProcess): boolean => isAlive(process);

/**
 * Sends SIGTERM to the server, which stops its children, and SIGKILL to the group after `graceMs` if it `mayKill` then. Resolves when the
 * group's leader has exited.
 */
export async function endGroup(
  leader: InstanceProcess,
  graceMs: number,
  mayKill: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  if (isAlive(leader)) {
    signal(findServer(leader.pid), "SIGTERM");
    for (const deadline = performance.now() + graceMs; isAlive(leader) && performance.now() < deadline;)
      await sleep(20);
    if (!(await mayKill())) return;
  }
  // kill remaining members: a group's id is not reused while the group has a process
  if (identifyProcess(leader.pid) === null || isAlive(leader)) signal(-leader.pid, "SIGKILL");
  while (isAlive(leader)) await sleep(10);
}

/**
 * Finds the agent server of a group. In bubblewrap the leader is `bwrap`, which kills everything at once on a signal;
 * its child is the first process in the sandbox, and the oldest child of that one is the server.
 */
function findServer(leader: number): number {
  if (readStat(leader)?.name !== "bwrap") return leader;
  const first = oldestChild(leader);
  return (first !== null && oldestChild(first)) || leader;
}

function oldestChild(parent: number): number | null {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readStat(Number(name));
      return stat && Number(stat.fields[1]) === parent ? [{ pid: Number(name), started: Number(stat.fields[19]) }] : [];
    });
  return children.toSorted((a, b) => a.started - b.started || a.pid - b.pid)[0]?.pid ?? null;
}

/** Reads proc_pid_stat(5); `fields` start at the state. Null when the process has exited. */
function readStat(pid: number): { name: string; fields: string[] } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // the name is in parentheses, and may contain parentheses
    const end = stat.lastIndexOf(")");
    return { name: stat.slice(stat.indexOf("(") + 1, end), fields: stat.slice(end + 2).split(" ") };
  } catch {
    return null;
  }
}

function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // already gone
  }
}

/** Kills all processes of a system user. Resolves when none is left. */
export async function endProcessesOfUser(uid: number): Promise<void> {
  for (const deadline = performance.now() + 10_000; ; await sleep(20)) {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && belongsToUser(Number(name), uid));
    if (pids.length === 0) return;
    if (performance.now() > deadline)
      throw new Error(`processes of the system user ${uid} did not exit: ${pids.join(", ")}`);
    for (const pid of pids) signal(Number(pid), "SIGKILL");
  }
}

function belongsToUser(pid: number, uid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return !/^State:\s+[ZX]/m.test(status) && new RegExp(`^Uid:\\s+${uid}\\s`, "m").test(status);
  } catch {
    return false;
  }
}

/** Page size 4 KiB and ticks of 1/100 s: the defaults on every Linux that Node.js supports. */
const PAGE = 4096;
const TICKS = 100;

/** Sums the usage of a group's processes; null when the system does not report it. */
export function groupUsage(group: number): { memoryBytes: number; cpuSeconds: number } | null {
  let memoryBytes = 0;
  let cpuSeconds = 0;
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return null;
  }
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const fields = readStat(Number(name))?.fields;
    if (!fields || Number(fields[2]) !== group) continue;
    cpuSeconds += (Number(fields[11]) + Number(fields[12])) / TICKS;
    memoryBytes += Number(fields[21]) * PAGE;
  }
  return { memoryBytes, cpuSeconds };
}
