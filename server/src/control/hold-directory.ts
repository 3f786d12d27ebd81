import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { ConfigError } from "../base/config/options.ts";
import { acquireFileLock, LockedError } from "../base/db/file-lock.ts";
import type { Log } from "../base/log.ts";

/** Time to wait for a predecessor that is shutting down. */
const WAIT_MS = 3_000;
/** Time to wait for one in another container: a rolling update starts the new one before the old one has drained. */
const ELSEWHERE_WAIT_MS = 30_000;

/** Returns the id of a data directory, wherever it is mounted. */
export function directoryId(directory: string): string {
  const file = join(directory, "directory.id");
  try {
    writeFileSync(file, `${randomUUID()}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readFileSync(file, "utf8").trim();
}

/**
 * Locks the directory for the control planes of one installation, of which the leader alone works in it. The first one
 * holds the lock; the others join when the directory belongs to their database.
 * @returns a function that releases the lock, if this process holds it. Throws ConfigError as `holdDirectory` does
 */
export async function shareDirectory(
  directory: string,
  installation: string,
  log?: Pick<Log, "warn">,
): Promise<() => Promise<void>> {
  const file = join(directory, "installation");
  const isOurs = () => {
    try {
      return readFileSync(file, "utf8").trim() === installation;
    } catch {
      return false;
    }
  };
  try {
    const lock = await acquireFileLock(join(directory, "control.lock"), { waitMs: 0 });
    if (!isOurs()) writeFileSync(file, `${installation}\n`, { mode: 0o600 });
    return () => Promise.resolve(lock.release());
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    if (isOurs()) return () => Promise.resolve();
  }
  const release = await holdDirectory(directory, log);
  writeFileSync(file, `${installation}\n`, { mode: 0o600 });
  return release;
}

/**
 * Locks the directory for one control plane: a second one would kill the first one's instances as its own, and build
 * into the same paths. A killed process holds no lock.
 * @returns a function that releases it. Throws ConfigError when another process holds it
 */
export async function holdDirectory(
  directory: string,
  log?: Pick<Log, "warn">,
  elsewhereWaitMs = ELSEWHERE_WAIT_MS,
): Promise<() => Promise<void>> {
  try {
    const lock = await acquireFileLock(join(directory, "control.lock"), {
      waitMs: WAIT_MS,
      elsewhereWaitMs,
      onWait: (holder) => log?.warn(`another control plane, ${holder}, uses ${directory}; waiting for it to exit`),
    });
    return () => Promise.resolve(lock.release());
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new ConfigError(
      `Another control plane, ${error.holder}, uses ${directory}, and only one can at a time. Stop it, or use a ` +
        "separate data directory (--data-dir).",
    );
  }
}
