import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { identifyProcess, processLives as lives } from "../../../base/db/process-identity.ts";
import type { InstanceProcess } from "../driver.ts";

export const isOurs = (process: InstanceProcess): boolean => lives(process);
export const processLives = (process: InstanceProcess): boolean => lives(process);

/** SIGTERM to the leader, which ends what it has started; after `graceMs` SIGKILL to the group. Resolves when it is gone. */
export async function endGroup(leader: InstanceProcess, graceMs: number): Promise<void> {
  if (lives(leader)) {
    signal(leader.pid, "SIGTERM");
    for (const deadline = performance.now() + graceMs; lives(leader) && performance.now() < deadline;) await sleep(20);
  }
  // what the leader has left, whoever it is: the group bears its number for as long as anybody is in it
  if (identifyProcess(leader.pid) === null || lives(leader)) signal(-leader.pid, "SIGKILL");
  while (lives(leader)) await sleep(10);
}

function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // it is gone
  }
}

/** Pages are 4 KiB and ticks a hundredth of a second on every Linux that Node runs on by default. */
const PAGE = 4096;
const TICKS = 100;

/** Of all processes of a group; null where the system does not tell. */
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
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (Number(fields[2]) !== group) continue;
      cpuSeconds += (Number(fields[11]) + Number(fields[12])) / TICKS;
      memoryBytes += Number(fields[21]) * PAGE;
    } catch {
      // it ended while we looked
    }
  }
  return { memoryBytes, cpuSeconds };
}
