import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  acquireFileLock,
  describeHolder,
  type FileLock,
  isFileOfOldVersion,
  isLocked,
  LockedError,
  type LockHolder,
  readHolder,
} from "./file-lock.ts";
import { clearOrphans, findPostmaster, postmasterAnswers } from "./postmaster.ts";
import { isElsewhere, isProcessAlive } from "./process-identity.ts";

/**
 * Registration of a process that uses an embedded Postgres: one file per process in `<dir>/users`, locked for the life
 * of the process. Callers hold `<dir>/lock`.
 */
export interface Registration {
  path: string;
  lock: FileLock;
}

/** Lock held by Postgres itself: by the postmaster and each of its processes. */
export const clusterLock = (dir: string): string => join(dir, "cluster.lock");

/** Lock held by a process that waits for Postgres to end in another container. */
const waiterLock = (dir: string): string => join(dir, "wanted.lock");

/** The data directory is in use by processes of another container. */
class DataDirectoryError extends Error {
  override name = "DataDirectoryError";
}

/**
 * Registers this process once no other container uses this Postgres. Waits `waitMs` for its end, without `<dir>/lock`,
 * which the other container's processes need for shutdown.
 */
export async function registerWhenFree(
  dir: string,
  waitMs: number,
  log: (message: string) => void,
  locked: (work: () => Promise<Registration | string>) => Promise<Registration | string>,
): Promise<Registration> {
  const deadline = performance.now() + waitMs;
  let waiter: FileLock | null = null;
  try {
    for (let waits = false; ; waits = true) {
      const outcome = await locked(async () => (await findUseElsewhere(dir)) ?? (await registerUser(dir)));
      if (typeof outcome !== "string") return outcome;
      if (performance.now() > deadline) {
        throw new DataDirectoryError(
          `${dir} is in use by ${outcome}. Only one container at a time can open a data directory. Stop the ` +
            "other one, use a separate data directory for this one, or set DATABASE_URI in both.",
        );
      }
      if (!waits) log(`${dir} is in use by ${outcome}; waiting ${waitMs / 1000} s for it to exit`);
      waiter ??= await tryAcquireLock(waiterLock(dir));
      await sleep(250);
    }
  } finally {
    waiter?.release();
  }
}

async function tryAcquireLock(path: string): Promise<FileLock | null> {
  try {
    return await acquireFileLock(path, { waitMs: 0 });
  } catch (error) {
    if (error instanceof LockedError) return null;
    throw error;
  }
}

async function registerUser(dir: string): Promise<Registration> {
  const path = join(dir, "users", `${process.pid}-${randomBytes(4).toString("hex")}`);
  return { path, lock: await acquireFileLock(path, { waitMs: 1_000 }) };
}

export function unregisterUser({ path, lock }: Registration): void {
  unlinkSync(path);
  lock.release();
}

/** Returns the live registered processes and removes the files of dead ones. */
export async function liveUsers(dir: string): Promise<LockHolder[]> {
  const live: LockHolder[] = [];
  for (const name of readdirSync(join(dir, "users"))) {
    const path = join(dir, "users", name);
    const user = readHolder(path);
    if (user && ((await isLocked(path)) || (isFileOfOldVersion(user) && isProcessAlive(user)))) live.push(user);
    else unlinkSync(path);
  }
  return live;
}

/**
 * Describes the use of this Postgres by another container; null when there is none. Its processes can be neither
 * signalled nor queried from here, and its loopback address is a separate one.
 */
async function findUseElsewhere(dir: string): Promise<string | null> {
  const user = (await liveUsers(dir)).find(isElsewhere);
  if (user) return describeHolder(user);
  const cluster = join(dir, "data");
  if (!existsSync(cluster) || findPostmaster(cluster)) return null;
  await clearOrphans(cluster);
  const lives = (await isLocked(clusterLock(dir))) || (await postmasterAnswers(cluster));
  return lives ? `a Postgres that was started by ${describeHolder(readHolder(clusterLock(dir)))}` : null;
}
