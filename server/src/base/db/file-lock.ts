import { spawn } from "node:child_process";
import { closeSync, constants, fchownSync, fstatSync, ftruncateSync, openSync, readFileSync } from "node:fs";
import { statSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess, isElsewhere, isProcessAlive, type ProcessIdentity } from "./process-identity.ts";

/**
 * Holder of a lock between processes, which the kernel keeps: flock(2) on an open file. The kernel knows the holder in
 * every container that shares the file, releases the lock when the holder ends in any way, and keeps it while the
 * holder is frozen. No lock is ever stale, so none is taken over. NFS and other shared file systems propagate the lock
 * between machines, or reject it, which is an error here.
 *
 * Node.js has no flock. A lock belongs to the open file, not to the process, so the program `flock` (util-linux,
 * BusyBox) locks an inherited descriptor and exits, and the lock remains ours. Where it is missing, as on macOS, Perl
 * does the same. Rejected: packages with native code, which would have to be built or downloaded; a listening Unix
 * socket in the directory, which needs a protocol to replace a stale one and fails between machines; a heartbeat in a
 * file, which mistakes a frozen holder for a dead one.
 *
 * The file names the holder for messages and remains after the release. Version 0.6 used the file's existence as the
 * lock: its live holders are respected, and our leftover files look to it like those of a dead process.
 */
export interface LockHolder extends ProcessIdentity {
  host: string;
  /** ISO 8601. */
  since: string;
}

export interface LockWait {
  /** Time to wait for a holder on this machine. */
  waitMs: number;
  /** Time to wait for a holder in another container, which may be ending in a rolling update. `waitMs` by default. */
  elsewhereWaitMs?: number;
  /** Called once, when another process holds the lock. */
  onWait?: (holder: string) => void;
}

/** Another process holds the lock and did not release it in time. */
export class LockedError extends Error {
  override name = "LockedError";
  /** Description of the holder. */
  holder: string;

  constructor(path: string, holder: string) {
    super(`${holder} holds ${path}`);
    this.holder = holder;
  }
}

export interface FileLock {
  /** Open file that the lock belongs to. A process that inherits it holds the lock too. */
  readonly descriptor: number;
  release(): void;
  /** Leaves the lock to the processes that inherited the descriptor. */
  handOver(): void;
}

/** Interval for polling holders of old versions, which the kernel does not know. */
const POLL_MS = 50;

/** Search path for `flock` and `perl` on common systems. */
export const PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin";

/** Implements `flock [-n] [-s] <descriptor>` for systems without it. */
const PERL_FLOCK =
  "my $op = 2; my $fd; for (@ARGV) { if (/n/) { $op |= 4 } elsif (/s/) { $op = ($op & 4) | 1 } else { $fd = $_ } } " +
  "open(my $file, '<&=', $fd) or die $!; " +
  "flock($file, $op) or ($!{EWOULDBLOCK} ? exit 1 : die $!)";

export const PERL_LOCKER = ["perl", "-MErrno", "-e", PERL_FLOCK, "--"] as const;

/** Programs that lock an inherited descriptor, by preference. */
const LOCKERS = [["flock"], PERL_LOCKER] as const;

export async function withFileLock<T>(path: string, wait: LockWait, work: () => Promise<T>): Promise<T> {
  const lock = await acquireFileLock(path, wait);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/**
 * Acquires the lock. Throws LockedError when another open file holds it for longer than the wait, even in this process.
 */
export async function acquireFileLock(path: string, wait: LockWait): Promise<FileLock> {
  const startedAt = performance.now();
  let waits = false;
  for (;;) {
    const descriptor = openLockFile(path);
    try {
      let locked = await lockDescriptor(descriptor, 0);
      const holder = readHolder(path);
      const old = locked && isFileOfOldVersion(holder) && isProcessAlive(holder);
      const patience = holder && isElsewhere(holder) ? (wait.elsewhereWaitMs ?? wait.waitMs) : wait.waitMs;
      const left = startedAt + patience - performance.now();
      if (!locked || old) {
        if (left <= 0) throw new LockedError(path, describeHolder(holder));
        if (!waits) wait.onWait?.(describeHolder(holder));
        waits = true;
      }
      if (!locked) locked = await lockDescriptor(descriptor, left);
      if (locked && !old && isStillThere(descriptor, path)) {
        writeRecord(descriptor, {
          ...identifyProcess(process.pid)!,
          host: hostname(),
          since: new Date().toISOString(),
        });
        return heldLock(descriptor);
      }
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    // The holder has not released it, is of an old version, or the directory was removed and recreated.
    closeSync(descriptor);
    await sleep(POLL_MS);
  }
}

/** Whether an open file anywhere holds the lock. */
export async function isLocked(path: string): Promise<boolean> {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  try {
    // A shared lock, so that two simultaneous checks do not take each other for the holder.
    return !(await lockDescriptor(descriptor, 0, "-s"));
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the last process that acquired the lock and did not release it; it may be dead. */
export function readHolder(path: string): LockHolder | null {
  try {
    const holder = JSON.parse(readFileSync(path, "utf8")) as LockHolder;
    return holder.pid > 0 && typeof holder.started === "string" ? holder : null;
  } catch {
    return null;
  }
}

export function describeHolder(holder: LockHolder | null): string {
  if (!holder) return "an unknown process";
  const { pid, host, since } = holder;
  const container = isElsewhere(holder) ? ` of another container (host ${host ?? "unknown"})` : "";
  return `process ${pid}${container}${since ? ` since ${since}` : ""}`;
}

/** Whether version 0.6 wrote the file, which had neither `host` nor `since` and locked nothing. */
export const isFileOfOldVersion = (holder: LockHolder | null): holder is LockHolder =>
  holder !== null && holder.since === undefined;

function openLockFile(path: string): number {
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  if (process.getuid?.() === 0) {
    // An ordinary user's directory remains usable for that user after root has worked on it.
    const { uid, gid } = statSync(dirname(path));
    if (uid !== fstatSync(descriptor).uid) fchownSync(descriptor, uid, gid);
  }
  return descriptor;
}

function heldLock(descriptor: number): FileLock {
  return {
    descriptor,
    release() {
      writeRecord(descriptor, { pid: 0, started: "" });
      closeSync(descriptor);
    },
    handOver: () => closeSync(descriptor),
  };
}

function writeRecord(descriptor: number, record: ProcessIdentity | LockHolder): void {
  ftruncateSync(descriptor);
  writeSync(descriptor, JSON.stringify(record), 0);
}

function isStillThere(descriptor: number, path: string): boolean {
  const [openFile, there] = [fstatSync(descriptor), statSync(path, { throwIfNoEntry: false })];
  return openFile.ino === there?.ino && openFile.dev === there.dev;
}

/** Resolves to false when the lock is still held after `waitMs`. */
async function lockDescriptor(descriptor: number, waitMs: number, mode?: "-s"): Promise<boolean> {
  const flags = [...(waitMs > 0 ? [] : ["-n"]), ...(mode ? [mode] : []), "3"];
  for (const [program, ...first] of LOCKERS) {
    const outcome = await run(program, [...first, ...flags], descriptor, waitMs);
    if (outcome !== "missing") return outcome;
  }
  throw new Error(
    "Cannot lock the data directory: neither flock (package util-linux) nor perl is installed. Install one of them",
  );
}

function run(program: string, args: string[], descriptor: number, waitMs: number): Promise<boolean | "missing"> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "ignore", "pipe", descriptor],
      env: { PATH: PROGRAM_PATH, LC_ALL: "C" },
    });
    let overdue = false;
    // A lock that it acquires while being killed is released with the descriptor, which the caller closes.
    const timer = waitMs > 0 ? setTimeout(() => (overdue = child.kill("SIGKILL")), waitMs) : undefined;
    let output = "";
    child.stderr!.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", (error) => {
      clearTimeout(timer);
      if ((error as NodeJS.ErrnoException).code === "ENOENT") resolve("missing");
      else reject(error);
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(true);
      else if (overdue || (code === 1 && output === "")) resolve(false);
      else reject(new Error(`${program} cannot lock the file: ${output.trim() || `exit code ${code}`}`));
    });
  });
}
