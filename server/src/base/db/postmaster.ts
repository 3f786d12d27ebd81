import { spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess, processLives, type ProcessIdentity } from "./process-identity.ts";

export interface Postmaster extends ProcessIdentity {
  port: number;
  /** As postmaster.pid says: "starting", "ready", "stopping". */
  status: string;
}

/** The live Postgres of a data directory. A stale postmaster.pid, also one whose pid is in use again, is null. */
export function findPostmaster(clusterDir: string): Postmaster | null {
  let lines: string[];
  try {
    lines = readFileSync(join(clusterDir, "postmaster.pid"), "utf8").split("\n");
  } catch {
    return null;
  }
  const pid = Number(lines[0]);
  const identity = identifyProcess(pid);
  if (!identity || !worksIn(pid, clusterDir)) return null;
  return { ...identity, port: Number(lines[3]), status: lines[7]?.trim() ?? "starting" };
}

/**
 * Whether the Postgres that postmaster.pid names accepts connections on its socket, which works from other containers
 * of this machine too. False for a starting one.
 */
export async function postmasterAnswers(clusterDir: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const directory = openSync(clusterDir, "r");
  try {
    const port = Number(readFileSync(join(clusterDir, "postmaster.pid"), "utf8").split("\n")[3]);
    // However long the path is: a socket's address has room for 108 bytes.
    const socket = connect(`/proc/self/fd/${directory}/.s.PGSQL.${port}`);
    return await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    }).finally(() => socket.destroy());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  } finally {
    closeSync(directory);
  }
}

/**
 * Backends that outlived their postmaster. They notice within a statement, but until then a new postmaster
 * refuses to start ("pre-existing shared memory block is still in use"). Known only where /proc is.
 */
export function findOrphans(clusterDir: string): ProcessIdentity[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && worksIn(pid, clusterDir))
    .flatMap((pid) => identifyProcess(pid) ?? []);
}

/** Every process of Postgres has the data directory as its working directory, however the path was spelt. */
function worksIn(pid: number, clusterDir: string): boolean {
  if (process.platform !== "linux") return commandOf(pid).includes(clusterDir);
  try {
    if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() !== "postgres") return false;
    const theirs = statSync(`/proc/${pid}/cwd`);
    const ours = statSync(clusterDir);
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return false;
  }
}

function commandOf(pid: number): string {
  return spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout;
}

export async function waitUntilGone(processes: ProcessIdentity[], timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (processes.some(processLives)) {
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}

export function signal(target: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    if (processLives(target)) process.kill(target.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Ends what is left of a cluster whose postmaster died. Its transactions died with it; killing loses nothing. */
export async function clearOrphans(clusterDir: string): Promise<void> {
  const orphans = findOrphans(clusterDir);
  if (orphans.length === 0 || (await waitUntilGone(orphans, 300))) return;
  for (const orphan of orphans) signal(orphan, "SIGKILL");
  await waitUntilGone(orphans, 5_000);
}

/** Ends a cluster; afterwards no process of it is left. */
export async function shutDown(clusterDir: string): Promise<void> {
  const postmaster = findPostmaster(clusterDir);
  if (postmaster) await endPostmaster(postmaster);
  await clearOrphans(clusterDir);
}

/** Fast shutdown, and harder when that takes too long. */
export async function endPostmaster(postmaster: ProcessIdentity): Promise<void> {
  const steps = [
    ["SIGINT", 30_000],
    ["SIGQUIT", 5_000],
    ["SIGKILL", 5_000],
  ] as const;
  for (const [name, patience] of steps) {
    signal(postmaster, name);
    if (await waitUntilGone([postmaster], patience)) return;
  }
}
