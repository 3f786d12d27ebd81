import { setTimeout as sleep } from "node:timers/promises";

import { expect, test, vi } from "vitest";

import type { AppError } from "../errors.ts";
import { BodyGate } from "./body-gate.ts";

const MIB = 1024 * 1024;
const createGate = (mib: number) => new BodyGate({ bodyMemoryMb: mib, maxBodyBytes: 1024 });
const ignore = () => {};

test("bodies take memory as they arrive, and a body without room waits until another ends", async () => {
  const gate = createGate(2);
  const [first, second] = [gate.hold(ignore), gate.hold(ignore)];
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
    const holder = gate.hold(ignore);
    await holder.use(MIB);
    holder.arrived();
    const rejected = gate
      .hold(ignore)
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
      const body = gate.hold(() => (cut.push("slow"), body.end()));
      return body;
    });
    const fast = gate.hold(() => cut.push("fast"));
    for (const body of slow) await body.use(50 * 1024);
    await fast.use(MIB - 150 * 1024);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(cut).toEqual([]);
    await gate.hold(ignore).use(100 * 1024);
    expect(cut).toEqual(["slow", "slow", "slow"]);
  } finally {
    vi.useRealTimers();
  }
});

test("a public body replaces the one that has been arriving for longest", async () => {
  const gate = createGate(256);
  const errors: AppError[] = [];
  const half = Array.from({ length: 200 }, () => gate.holdPublic((error) => errors.push(error)));
  for (const body of half) await body.use(60_000);
  expect(gate.used).toBeLessThanOrEqual(4 * MIB);
  expect(errors.length).toBeGreaterThan(100);
  expect(errors[0]).toMatchObject({ status: 503 });
  const late = gate.holdPublic(ignore);
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
    const body = createGate(1).holdPublic(reject);
    await body.use(10);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(reject).toHaveBeenCalledWith(expect.objectContaining({ status: 400 }));
  } finally {
    vi.useRealTimers();
  }
});
