import { expect, test } from "vitest";

import { LastHeads } from "./last-heads.ts";
import type { StoredCheckpoint } from "./read-statement.ts";

const head = (threadId: string, bytes: number, fields: Partial<StoredCheckpoint> = {}): StoredCheckpoint => ({
  threadId,
  ns: "",
  id: "1",
  parentId: null,
  checkpoint: "{}",
  metadata: "{}",
  values: new Map([["c", { type: "json", data: "x".repeat(bytes), version: "1" }]]),
  writes: [],
  parentSends: [],
  ...fields,
});

test("evicts the least recently used head, and keeps within its limit", () => {
  const heads = new LastHeads();
  for (let n = 0; n < 200; n += 1) heads.keep(head(`t${n}`, 200_000));
  expect(heads.bytes).toBeGreaterThan(14 * 1024 * 1024);
  expect(heads.bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
  expect(heads.get("t199", "1")).toBeDefined();
  expect(heads.get("t0", "1")).toBeUndefined();
});

test("a thread's newer head replaces its older one, also when it is too large to be kept", () => {
  const heads = new LastHeads();
  heads.keep(head("t", 10));
  heads.keep(head("t", 10, { id: "2" }));
  expect([heads.get("t", "1"), heads.get("t", "2")?.id]).toEqual([undefined, "2"]);
  heads.keep(head("t", 300_000, { id: "3" }));
  expect([heads.get("t", "2"), heads.get("t", "3"), heads.bytes]).toEqual([undefined, undefined, 0]);
});

test("keeps no head with pending writes, and writes of its first reader do not reach the next", () => {
  const heads = new LastHeads();
  const write = { taskId: "a", idx: 0, channel: "c", type: "json", data: "1" };
  heads.keep(head("t", 10, { writes: [write] }));
  expect(heads.get("t", "1")).toBeUndefined();
  heads.keep(head("t", 10));
  heads.get("t", "1")!.writes.push(write);
  expect(heads.get("t", "1")!.writes).toEqual([]);
});
