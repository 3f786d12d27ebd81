import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess, processLives, type ProcessIdentity } from "./process-identity.ts";

/**
 * A lock between processes of one machine, as a file that names its holder. Node has no flock(2), so a lock
 * whose holder died is recognised by the holder's start time and taken over; of several who see that, the one
 * who holds `<path>.takeover` removes it. The takeover itself is synchronous code of under a millisecond.
 */
export async function withFileLock<T>(path: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  const token = randomBytes(8).toString("hex");
  const candidate = `${path}.${process.pid}.${token}`;
  writeFileSync(candidate, JSON.stringify({ ...identifyProcess(process.pid), token }), { mode: 0o600 });
  try {
    while (!tryLink(candidate, path)) {
      const holder = readHolder(path);
      if (holder && !processLives(holder)) removeStale(path, candidate);
      else if (Date.now() > deadline) throw new Error(`process ${holder?.pid} holds ${path} for too long`);
      else await sleep(25);
    }
  } finally {
    unlinkSync(candidate);
  }
  try {
    return await work();
  } finally {
    // Not ours when the whole directory was removed and made again meanwhile.
    if (readHolder(path)?.token === token) unlinkSync(path);
  }
}

function removeStale(path: string, candidate: string): void {
  const takeover = `${path}.takeover`;
  if (!tryLink(candidate, takeover)) {
    // Left behind by a process that was killed within the takeover.
    if (ageMs(takeover) > 10_000) tryUnlink(takeover);
    return;
  }
  try {
    const holder = readHolder(path);
    if (holder && !processLives(holder)) tryUnlink(path);
  } finally {
    tryUnlink(takeover);
  }
}

function readHolder(path: string): (ProcessIdentity & { token: string }) | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ProcessIdentity & { token: string };
  } catch {
    return null;
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function tryUnlink(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Somebody else was faster.
  }
}

function ageMs(path: string): number {
  try {
    // Links share the age of the candidate; its change time is when it was linked last.
    return Date.now() - statSync(path).ctimeMs;
  } catch {
    return 0;
  }
}
