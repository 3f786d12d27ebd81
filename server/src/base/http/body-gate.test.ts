import { setTimeout as sleep } from "node:timers/promises";

import { expect, test, vi } from "vitest";

import type { AppError } from "../errors.ts";
import { BodyGate, createBodyGate } from "./body-gate.ts";

const MIB = 1024 * 1024;
const createGate = (mib: number) => createBodyGate({ bodyMemoryMb: mib, maxBodyBytes: 1024 });
const TENANT = "one";

test("bodies take memory as they arrive, and a body without room waits until another ends", async () => {
  const gate = createGate(2);
  const [first, second] = [gate.hold(TENANT), gate.hold(TENANT)];
  await first.use(1.5 * MIB);
  let entered = false;
  const waiting = second.use(MIB).then(() => (entered = true));
  await sleep(20);
  expect(entered).toBe(false);
  first.end();
  await waiting;
  second.end();
  expect(gate.used).toBe(0);
});

test("rejects a body without room after some seconds with 503 and Retry-After", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "performance"] });
  try {
    const gate = createGate(1);
    const holder = gate.hold(TENANT);
    await holder.use(MIB);
    holder.arrived();
    const rejected = gate
      .hold(TENANT)
      .use(MIB)
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await rejected).toMatchObject({ status: 503, headers: { "Retry-After": "2" } });
    holder.end();
    expect(gate.used).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("cuts off slow bodies for a waiting one, but not fast bodies", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "performance"] });
  try {
    const gate = createGate(1);
    const cut: string[] = [];
    const slow = [1, 2, 3].map(() => {
      const body = gate.hold(TENANT);
      body.onEvicted(() => cut.push("slow"));
      return body;
    });
    const fast = gate.hold(TENANT);
    fast.onEvicted(() => cut.push("fast"));
    for (const body of slow) await body.use(50 * 1024);
    await fast.use(MIB - 150 * 1024);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(cut).toEqual([]);
    await gate.hold(TENANT).use(50 * 1024);
    // and no others
    expect(cut).toEqual(["slow"]);
    await gate.hold(TENANT).use(100 * 1024);
    expect(cut).toEqual(["slow", "slow", "slow"]);
  } finally {
    vi.useRealTimers();
  }
});

test("a public body replaces the one that has been arriving for longest", async () => {
  const gate = createGate(256);
  const errors: AppError[] = [];
  const half = Array.from({ length: 200 }, () => {
    const body = gate.holdPublic();
    body.onEvicted((error) => errors.push(error));
    return body;
  });
  for (const body of half) await body.use(60_000);
  expect(gate.used).toBeLessThanOrEqual(4 * MIB);
  expect(errors.length).toBeGreaterThan(100);
  expect(errors[0]).toMatchObject({ status: 503 });
  const late = gate.holdPublic();
  await late.use(64 * 1024);
  late.arrived();
  late.end();
  for (const body of half) body.end();
  expect(gate.used).toBe(0);
});

test("cuts off a public body that does not arrive within 15 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  try {
    const reject = vi.fn<(error: AppError) => void>();
    const body = createGate(1).holdPublic();
    body.onEvicted(reject);
    await body.use(10);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(reject).toHaveBeenCalledWith(expect.objectContaining({ status: 400 }));
  } finally {
    vi.useRealTimers();
  }
});

test("reads bodies with an expected size of 16 MiB or more one at a time, and smaller ones meanwhile", async () => {
  const events: string[] = [];
  const gate = new BodyGate({ bytes: 64 * MIB, reserves: true });
  const send = (name: string, size: number) =>
    gate.admit(size, async (body) => {
      events.push(`read ${name}`);
      if (gate.isWaitedFor) events.push(`wanted ${name}`);
      await body.use(size);
      await sleep(20);
      events.push(`store ${name}`);
    });
  const sent = [send("a", 20 * MIB), send("b", 16 * MIB), send("small", MIB)];
  await Promise.all(sent);
  const ofLarge = events.filter((event) => !event.endsWith("small"));
  expect(ofLarge).toEqual(["read a", "wanted a", "store a", "read b", "store b"]);
  expect(events.indexOf("read small")).toBeLessThan(events.indexOf("store a"));
});

test("one of several tenants gets half of the memory; its next body waits, and others find room", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "performance"] });
  try {
    const gate = createGate(4);
    const other = gate.hold("other");
    await other.use(1024);
    other.arrived();
    const first = gate.hold(TENANT);
    await first.use(1.5 * MIB);
    first.arrived();
    const slow = gate.hold(TENANT);
    const evicted: AppError[] = [];
    slow.onEvicted((error) => evicted.push(error));
    await slow.use(10 * 1024);
    await vi.advanceTimersByTimeAsync(2_000);
    const next = gate.hold(TENANT);
    expect(next.tryUse(0.5 * MIB)).toBe(false);
    let entered = false;
    const waiting = next.use(0.5 * MIB).then(() => (entered = true));
    await other.use(1.5 * MIB);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(entered).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    await waiting;
    expect(evicted).toMatchObject([{ status: 408 }]);
    for (const body of [other, first, next]) body.end();
    expect(gate.used).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
