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
  for (let n = 0; n < 600; n += 1) heads.keep(head(`t${n}`, 200_000));
  expect(heads.bytes).toBeGreaterThan(62 * 1024 * 1024);
  expect(heads.bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
  expect(heads.get("t599", "1")).toBeDefined();
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

test("keeps the lists of a checkpoint that cannot be the next run's head, and what the values show", () => {
  const heads = new LastHeads();
  const items = [{ text: '"a"' }];
  const list = { items, version: "1", chain: null, depth: 0, cost: 300 };
  const values = new Map([["log", { type: "json", data: "", version: "1", list }]]);
  const write = { taskId: "a", idx: 0, channel: "c", type: "json", data: "1" };
  const shown = { of: "1", lists: new Map([["log", items]]) };
  heads.keep(head("t", 0, { values, writes: [write] }), shown);
  expect(heads.get("t", "1")).toBeUndefined();
  expect(heads.lists("t").get("log")).toBe(list);
  expect(heads.shown("t")).toBe(shown);
});
