import { spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess, isProcessAlive, type ProcessIdentity } from "./process-identity.ts";

export interface Postmaster extends ProcessIdentity {
  port: number;
  /** Status in postmaster.pid: "starting", "ready", "stopping". */
  status: string;
}

/** Finds the live Postgres of a data directory. Null for a stale postmaster.pid, even if its pid was reused. */
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
 * Whether the Postgres of postmaster.pid accepts connections on its socket, which works across containers of this
 * machine. False while it is starting.
 */
export async function postmasterAnswers(clusterDir: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const directory = openSync(clusterDir, "r");
  try {
    const port = Number(readFileSync(join(clusterDir, "postmaster.pid"), "utf8").split("\n")[3]);
    // Via the descriptor, because a socket address holds only 108 bytes.
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
 * Finds backends that outlived their postmaster. They exit within a statement, but until then a new postmaster rejects
 * to start ("pre-existing shared memory block is still in use"). Empty on systems without /proc.
 */
export function findOrphans(clusterDir: string): ProcessIdentity[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && worksIn(pid, clusterDir))
    .flatMap((pid) => identifyProcess(pid) ?? []);
}

/**
 * Name of a cluster for Postgres' setting `cluster_name`, which the titles of its processes show: like the comparison of
 * directories, it is the same in every container that has the directory.
 */
export function clusterName(clusterDir: string): string {
  const { dev, ino } = statSync(clusterDir);
  return `heddle-${dev}-${ino}-`;
}

/** Whether the process works in the cluster: every Postgres process has it as its working directory, however spelt. */
function worksIn(pid: number, clusterDir: string): boolean {
  if (process.platform !== "linux") return processCommand(pid).includes(clusterDir);
  try {
    if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() !== "postgres") return false;
    const processStat = statSync(`/proc/${pid}/cwd`);
    const clusterStat = statSync(clusterDir);
    return processStat.dev === clusterStat.dev && processStat.ino === clusterStat.ino;
  } catch (error) {
    // root in a container has no right to look into the processes of other users (CAP_SYS_PTRACE)
    return (error as NodeJS.ErrnoException).code === "EACCES" && isNamed(pid, clusterDir);
  }
}

function isNamed(pid: number, clusterDir: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(clusterName(clusterDir));
  } catch {
    return false;
  }
}

function processCommand(pid: number): string {
  return spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout;
}

export async function waitUntilGone(processes: ProcessIdentity[], timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (processes.some(isProcessAlive)) {
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}

export function signal(target: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    if (isProcessAlive(target)) process.kill(target.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Kills the orphans of a dead postmaster. Their transactions died with it, so nothing is lost. */
export async function clearOrphans(clusterDir: string): Promise<void> {
  const orphans = findOrphans(clusterDir);
  if (orphans.length === 0 || (await waitUntilGone(orphans, 300))) return;
  for (const orphan of orphans) signal(orphan, "SIGKILL");
  await waitUntilGone(orphans, 5_000);
}

/** Shuts down a cluster; afterwards no process of it is left. */
export async function shutDown(clusterDir: string): Promise<void> {
  const postmaster = findPostmaster(clusterDir);
  if (postmaster) await endPostmaster(postmaster);
  await clearOrphans(clusterDir);
}

/** Requests a fast shutdown, and escalates on timeout. */
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
