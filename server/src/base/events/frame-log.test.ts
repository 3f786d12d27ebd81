import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

import { FrameLog } from "./frame-log.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "heddle-frames-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function readAll(log: FrameLog, from = 0, keep?: (name: string) => boolean): Promise<string> {
  let text = "";
  for (let at = from; ;) {
    await log.waitFor(at);
    if (at >= log.count) return text;
    const { bytes, next } = await log.read(at, keep);
    if (bytes) text += bytes.toString();
    at = next;
  }
}

test("readers that start before, during and after the writes read every frame once", async () => {
  const log = new FrameLog({ memoryBytes: 1 << 20, file: join(dir, "a") });
  const early = readAll(log);
  const frames = Array.from({ length: 500 }, (_, i) => `frame ${i}\n`);
  let middle: Promise<string> | undefined;
  for (const [i, frame] of frames.entries()) {
    log.append("x", Buffer.from(frame));
    if (i === 250) middle = readAll(log);
    if (i % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  log.close();
  const all = frames.join("");
  expect(await early).toBe(all);
  expect(await middle).toBe(all);
  expect(await readAll(log)).toBe(all);
  expect(await readAll(log, 499)).toBe("frame 499\n");
  expect(await readAll(log, 10_000)).toBe("");
});

test("a log beyond its memory limit moves to a file, is read back whole, and leaves no file", async () => {
  const memoryBytes = 512 * 1024;
  const log = new FrameLog({ memoryBytes, file: join(dir, "sub", "b") });
  const frame = (i: number): string => `${i}:${"x".repeat(10_000)}\n`;
  for (let i = 0; i < 1000; i++) {
    log.append(i % 2 ? "odd" : "even", Buffer.from(frame(i)));
    if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  log.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(log.memory).toBeLessThan(memoryBytes + 256 * 1024);
  expect(await readAll(log)).toBe(Array.from({ length: 1000 }, (_, i) => frame(i)).join(""));
  expect(await readAll(log, 3, (name) => name === "odd")).toBe(
    Array.from({ length: 499 }, (_, i) => frame(2 * i + 3)).join(""),
  );
  await log.dispose();
  expect(await readdir(join(dir, "sub"))).toEqual([]);
});

test("readers of a held log see released frames only, and unreleased ones can be replaced", async () => {
  const log = new FrameLog({ memoryBytes: 1 << 20, file: join(dir, "held") });
  log.hold();
  const reading = readAll(log);
  for (const text of ["a", "b", "c"]) log.append("x", Buffer.from(text));
  expect([log.count, log.appended]).toEqual([0, 3]);
  expect((await log.read(0)).bytes).toBeNull();
  expect((await log.readHidden(0)).bytes!.toString()).toBe("abc");
  log.show(2);
  log.dropHidden();
  expect(log.appended).toBe(2);
  log.append("x", Buffer.from("d"));
  log.close();
  expect(log.closed).toBe(false);
  log.show(3);
  expect(await reading).toBe("abd");
});
