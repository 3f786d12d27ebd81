import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

import { afterEach, beforeEach, expect, test } from "vitest";

import { acquireFileLock, isLocked, LockedError, PERL_LOCKER, withFileLock } from "./file-lock.ts";
import { identifyProcess } from "./process-identity.ts";

const HOLDER = fileURLToPath(new URL("../../../test/fixtures/lock-holder.ts", import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

let directory: string;
let path: string;
let children: ChildProcess[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "heddle-lock-"));
  path = join(directory, "lock");
  children = [];
});

afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

/** Starts another process that waits for the lock, prints "held" once it has it, and keeps it for `holdMs`. */
function contend(holdMs: number, waitMs: number): { child: ChildProcess; line: Promise<string> } {
  const args = ["--import", TSX, HOLDER, path, String(waitMs), String(holdMs)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  return { child, line: once(createInterface(child.stdout), "line").then(([line]) => line as string) };
}

test("waits for a holder that releases the lock, and names a holder that does not", async () => {
  const first = await acquireFileLock(path, { waitMs: 0 });
  await expect(acquireFileLock(path, { waitMs: 100 })).rejects.toThrow(
    new RegExp(`^process ${process.pid} since .* holds ${path}$`),
  );
  await expect(acquireFileLock(path, { waitMs: 0 })).rejects.toBeInstanceOf(LockedError);
  const waits: string[] = [];
  const second = acquireFileLock(path, { waitMs: 5_000, onWait: (holder) => waits.push(holder) });
  await expect.poll(() => waits).toHaveLength(1);
  first.release();
  (await second).release();
  expect(waits).toHaveLength(1);
  expect(await isLocked(path)).toBe(false);
});

test("a killed holder loses the lock at once, and exactly one waiter acquires it", async () => {
  const first = contend(60_000, 0);
  expect(await first.line).toBe("held");
  const others = [contend(60_000, 2_000), contend(60_000, 2_000), contend(60_000, 2_000)];
  await sleep(1_000);
  first.child.kill("SIGKILL");
  const lines = await Promise.all(others.map(({ line }) => line));
  expect(lines.filter((line) => line === "held")).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith("rejected"))).toHaveLength(2);
});

test("a frozen holder keeps the lock", async () => {
  const { child, line } = contend(60_000, 0);
  expect(await line).toBe("held");
  child.kill("SIGSTOP");
  await expect(acquireFileLock(path, { waitMs: 300 })).rejects.toThrow(`process ${child.pid} since`);
});

test("critical sections of several processes do not overlap", async () => {
  const log = join(directory, "log");
  const work = (name: string) =>
    withFileLock(path, { waitMs: 10_000 }, async () => {
      writeFileSync(log, `${name} begins\n`, { flag: "a" });
      await sleep(20);
      writeFileSync(log, `${name} ends\n`, { flag: "a" });
    });
  await Promise.all(["a", "b", "c", "d"].map(work));
  expect(readFileSync(log, "utf8")).toMatch(/^((\w) begins\n\2 ends\n){4}$/);
});

test("respects a lock file of version 0.6 while its process lives", async () => {
  const child = spawn("sleep", ["60"]);
  children.push(child);
  writeFileSync(path, JSON.stringify({ ...identifyProcess(child.pid!), token: "x" }));
  await expect(acquireFileLock(path, { waitMs: 0 })).rejects.toThrow(`process ${child.pid} holds`);
  child.kill("SIGKILL");
  await once(child, "exit");
  (await acquireFileLock(path, { waitMs: 0 })).release();
});

test("a lock in a recreated directory is independent of the old one", async () => {
  const first = await acquireFileLock(path, { waitMs: 0 });
  rmSync(directory, { recursive: true });
  mkdirSync(directory);
  const second = await acquireFileLock(path, { waitMs: 0 });
  first.release();
  expect(await isLocked(path)).toBe(true);
  second.release();
});

test("the Perl locker is compatible with flock", async () => {
  const perl = (...flags: string[]) => {
    const descriptor = openSync(path, "a");
    const { status, stderr } = spawnSync(PERL_LOCKER[0], [...PERL_LOCKER.slice(1), ...flags, "3"], {
      stdio: ["ignore", "ignore", "pipe", descriptor],
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    return { status, close: () => closeSync(descriptor) };
  };
  const lock = await acquireFileLock(path, { waitMs: 0 });
  for (const flags of [["-n"], ["-n", "-s"]]) {
    const attempt = perl(...flags);
    expect(attempt.status).toBe(1);
    attempt.close();
  }
  lock.release();
  const shared = [perl("-n", "-s"), perl("-n", "-s")];
  expect(shared.map(({ status }) => status)).toEqual([0, 0]);
  await expect(acquireFileLock(path, { waitMs: 0 })).rejects.toBeInstanceOf(LockedError);
  for (const { close } of shared) close();
  expect(perl("-n").status).toBe(0);
  expect(await isLocked(path)).toBe(true);
});
