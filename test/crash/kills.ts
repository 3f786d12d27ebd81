import { setTimeout as sleep } from "node:timers/promises";

import type { ServerProcess } from "./server-process.ts";

export type Victim = "host" | "server" | "postmaster" | "backend";
export const VICTIMS: Victim[] = ["host", "server", "postmaster", "backend"];

/** Returns a small seeded generator (mulberry32), so that a sequence of kills can be repeated. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function shuffled<T>(items: T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/**
 * Kills one process with SIGKILL and restarts it unless its supervisor does. False when there was no process to kill.
 */
export async function kill(victim: Victim, server: ServerProcess, random: () => number): Promise<boolean> {
  server.assertAlive();
  if (victim === "server") {
    await server.kill();
    // simulates a machine that is slow to restart it
    await sleep(random() * 500);
    await server.start();
    return true;
  }
  const pids = {
    host: () => server.hosts(),
    postmaster: () => [server.postmaster()].filter((pid) => pid !== undefined),
    backend: () => server.backends(),
  }[victim]();
  const pid = pids[Math.floor(random() * pids.length)];
  if (pid === undefined) return false;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
  return true;
}
