/**
 * Marks a build's directory with the attempt that works in it. A control plane that was frozen may find that another one
 * has begun the build anew: it then leaves the directory alone, and its commands have been killed.
 *
 *     <home>/attempt   number of the attempt
 *     <home>/group     leader of the process group of its current command
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import {
  identifyProcess,
  isElsewhere,
  type ProcessIdentity,
  isProcessAlive,
} from "../../../base/db/process-identity.ts";

class LostBuildError extends Error {
  override name = "LostBuildError";
}

const ATTEMPT = "attempt";
const GROUP = "group";

/** Kills the command of an earlier attempt that still runs in the directory. */
export function endEarlierAttempt(home: string): void {
  try {
    const leader = JSON.parse(readFileSync(join(home, GROUP), "utf8")) as ProcessIdentity;
    if (!isElsewhere(leader) && isProcessAlive(leader)) process.kill(-leader.pid, "SIGKILL");
  } catch {
    // there was none, or it has just ended
  }
}

export const beginAttempt = (home: string, attempt: number): void =>
  writeFileSync(join(home, ATTEMPT), String(attempt));

export const noteGroup = (home: string, group: number): void =>
  writeFileSync(join(home, GROUP), JSON.stringify(identifyProcess(group) ?? { pid: 0, started: "" }));

export function isAttempt(home: string, attempt: number): boolean {
  try {
    return readFileSync(join(home, ATTEMPT), "utf8") === String(attempt);
  } catch {
    return false;
  }
}

/** Throws when a later attempt works in the directory. */
export function expectAttempt(home: string, attempt: number): void {
  if (!isAttempt(home, attempt)) throw new LostBuildError("another control plane builds this revision now");
}
