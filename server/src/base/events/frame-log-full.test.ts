import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { FrameLog, type FrameLogOptions, type PersistedFrames } from "./frame-log.ts";
import { SpillSpace, spillLimit } from "./spill-space.ts";
import { sseBody } from "./sse.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "heddle-full-"));
});
const logs: FrameLog[] = [];
afterEach(async () => {
  // closes their files
  await Promise.all(logs.splice(0).map((log) => log.dispose()));
  await rm(dir, { recursive: true, force: true });
});

function newLog(options: Partial<FrameLogOptions>): FrameLog {
  const log = new FrameLog({ memoryBytes: MEMORY, file: join(dir, "spill"), ...options });
  logs.push(log);
  return log;
}

const MEMORY = 256 * 1024;
const frame = (i: number): Buffer => Buffer.from(`${i}:${"x".repeat(10_000)}\n`);

/** Appends until the log reports that it is full, or `max` frames; no faster than frames are written. */
async function fill(options: Partial<FrameLogOptions>, max = 300) {
  let reason: string | undefined;
  const onFull = (text: string) => (reason = text);
  const log = newLog({ onFull, ...options });
  for (let i = 0; i < max && reason === undefined; i++) {
    log.append("x", frame(i));
    if (i % 10 === 0) await sleep(2);
    // on a busy machine the error of a full file arrives late
    for (let n = 0; options.file && n < 500 && log.memory > MEMORY && reason === undefined; n++) await sleep(2);
  }
  return { log, reason };
}

async function readAll(log: FrameLog): Promise<number> {
  for (let at = 0; ;) {
    const { bytes, next } = await log.read(at);
    if (next === at) return at;
    const numbers = bytes!.toString().match(/\d+(?=:)/g)!;
    expect(numbers.map(Number)).toEqual(Array.from({ length: next - at }, (_, i) => at + i));
    at = next;
  }
}

test("a full disk ends a log with the reason, after the frames held in memory", async () => {
  const file = join(dir, "full");
  await symlink("/dev/full", file);
  const { log, reason } = await fill({ file });
  expect(reason).toMatch(/ENOSPC/);
  expect(log.memory).toBeLessThan(2 * MEMORY);
  expect(await readAll(log)).toBe(log.appended);
  await log.dispose();
});

test("logs share the allowed disk space and release it", async () => {
  const space = new SpillSpace(1024 * 1024);
  const { log, reason } = await fill({ space });
  expect(reason).toBe("This server's streams need more than 1 MB of disk.");
  expect(await readAll(log)).toBe(log.appended);
  const other = await fill({ space, file: join(dir, "other") });
  expect(other.reason).toBeDefined();
  await Promise.all([log.dispose(), other.log.dispose()]);
  expect(space.used).toBe(0);
});

test("reads frames stored elsewhere from there when the disk is full", async () => {
  await symlink("/dev/full", join(dir, "full"));
  const read = vi.fn<PersistedFrames["read"]>((from: number, count: number) =>
    Promise.resolve(Array.from({ length: count }, (_, i) => frame(from + i))),
  );
  const { log, reason } = await fill({
    file: join(dir, "full"),
    elsewhere: { count: () => 300, isGrowing: () => false, read },
  });
  expect(reason).toBeUndefined();
  expect(log.memory).toBeLessThan(2 * MEMORY);
  expect(await readAll(log)).toBe(300);
  expect(read).toHaveBeenCalled();
});

test("frames being stored elsewhere may wait in memory, within bounds", async () => {
  const elsewhere = { count: () => 0, isGrowing: () => true, read: () => Promise.resolve([]) };
  const few = await fill({ space: new SpillSpace(0), elsewhere }, 150);
  expect(few.reason).toBeUndefined();
  expect(await readAll(few.log)).toBe(150);
  const { log, reason } = await fill({ space: new SpillSpace(0), elsewhere });
  expect(reason).toBeDefined();
  expect(log.memory).toBeLessThan(9 * MEMORY);
});

test("disposing an unfinished log aborts its reader instead of ending it cleanly", async () => {
  const open = newLog({ file: join(dir, "open") });
  open.append("x", frame(0));
  const reading = new Response(sseBody(open, { from: 0 })).text();
  await open.dispose();
  await expect(reading).rejects.toThrow("disposed");
  const stalled = newLog({ file: join(dir, "stalled") });
  stalled.append("x", frame(0));
  const reader = sseBody(stalled, { from: 0, heartbeatMs: 5, stallMs: 20 }).getReader();
  stalled.append("x", frame(1));
  await new Promise((resolve) => setTimeout(resolve, 80));
  await expect(reader.read()).rejects.toThrow("stopped reading");
});

test("the limit is at most half of the free disk space", async () => {
  expect(await spillLimit(join(dir, "not", "there"), 1024)).toBe(1024);
  expect(await spillLimit(dir, Number.MAX_SAFE_INTEGER)).toBeLessThan(Number.MAX_SAFE_INTEGER);
});
