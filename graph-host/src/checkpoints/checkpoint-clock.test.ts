import { expect, test } from "vitest";

import { CheckpointClock } from "./checkpoint-clock.ts";

const AT = Date.parse("2026-05-04T12:00:00Z");

/** Returns the time of a UUIDv6 in milliseconds since the Unix epoch. */
function timeIn(id: string): number {
  const [high, mid, low] = id.split("-");
  return Number((BigInt(`0x${high}${mid}${low!.slice(1)}`) - 0x01b21dd213814000n) / 10_000n);
}

function steppingClock(times: number[]): CheckpointClock {
  let at = 0;
  return new CheckpointClock(undefined, () => times[Math.min(at++, times.length - 1)]!);
}

test("an id is a UUIDv6 of the time with 14 bits of the step", () => {
  const clock = steppingClock([AT]);
  for (const [step, sequence] of [
    [0, "8000"],
    [5, "8005"],
    [-1, "bfff"],
    [-2, "bffe"],
    [0x1ffff, "bfff"],
  ] as const) {
    const id = clock.nextId(step);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-6[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id.slice(19, 23)).toBe(sequence);
    expect(timeIn(id)).toBe(AT);
  }
});

test("ids of one millisecond are in order of creation, regardless of their steps", () => {
  const clock = steppingClock([AT]);
  const ids = Array.from({ length: 25_000 }, (_, n) => clock.nextId(n % 3 === 0 ? -1 : n));
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
});

test("ids keep their order across a wrap of the lower 32 bits within a millisecond", () => {
  const wrap = Math.floor((2 ** 32 * 40_000_000) / 10_000) - 12_219_292_800_000;
  const clock = steppingClock([wrap]);
  const ids = Array.from({ length: 10_000 }, () => clock.nextId(0));
  expect(ids).toEqual(ids.toSorted());
});

test("keeps the order when the clock steps back or ahead, and uses the wall clock when it is later", () => {
  const hour = 3_600_000;
  const clock = steppingClock([AT, AT + hour, AT, AT - hour, AT + 2 * hour]);
  const ids = Array.from({ length: 5 }, () => clock.nextId(0));
  expect(ids).toEqual(ids.toSorted());
  expect(ids.map(timeIn)).toEqual([AT, AT + hour, AT + hour, AT + hour, AT + 2 * hour]);
});

test("an id is above every observed id, UUIDv6 or not", () => {
  const future = new CheckpointClock(undefined, () => AT + 1e12).nextId(-1);
  for (const observed of [future, "30000000-0000-1000-8000-000000000000", "2fffffff-ffff-4fff-bfff-ffffffffffff"]) {
    const clock = steppingClock([AT]);
    clock.observe(observed);
    const [first, second] = [clock.nextId(0), clock.nextId(0)];
    expect(first > observed).toBe(true);
    expect(second > first).toBe(true);
  }
});

test("ignores an observed id of the past and one that is not a UUID", () => {
  const clock = steppingClock([AT]);
  clock.observe("1ef663ba-28fe-6528-8002-5a559208592c");
  clock.observe("zzz");
  expect(timeIn(clock.nextId(0))).toBe(AT);
});

test("a thread in the future does not affect other runs, and the process clock stays above all ids", () => {
  const now = () => AT;
  const process = new CheckpointClock(undefined, now);
  const [poisoned, other] = [new CheckpointClock(process, now), new CheckpointClock(process, now)];
  poisoned.observe(new CheckpointClock(undefined, () => AT + 1e12).nextId(0));
  const id = poisoned.nextId(0);
  expect(timeIn(id)).toBe(AT + 1e12);
  expect(timeIn(other.nextId(0))).toBe(AT);
  expect(process.nextId(0) > id).toBe(true);
});

test("fails when the time range of ids is used up", () => {
  const clock = steppingClock([AT]);
  clock.observe("ffffffff-ffff-6fff-8000-000000000000");
  expect(() => clock.nextId(0)).toThrow("used up the time");
});
