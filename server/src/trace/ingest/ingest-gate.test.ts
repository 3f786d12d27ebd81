import { setTimeout as sleep } from "node:timers/promises";

import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { deferred } from "../../base/deferred.ts";
import { FairShare } from "../../base/fair-share.ts";
import { IngestGate, type IngestGateOptions } from "./ingest-gate.ts";

const MIB = 1024 * 1024;
const createGate = (bytes: number, options: Partial<IngestGateOptions> = {}) =>
  new IngestGate({ bytes, registry: new Registry(), ...options });
const LIMIT = { maxBytes: 64 * MIB };
const request = (length: number) => new Headers({ "Content-Length": String(length) });

test("requests beyond the budget wait in order until memory is free", async () => {
  const gate = createGate(10 * MIB);
  const order: number[] = [];
  const locks = [5, 4, 3, 1].map((size, n) => {
    const lock = deferred<void>();
    const done = gate.admit(request(size * MIB), LIMIT, async () => {
      order.push(n);
      await lock.promise;
    });
    return { lock, done };
  });
  await sleep(10);
  // the fourth would fit, but queues behind the third
  expect(order).toEqual([0, 1]);
  locks[0]!.lock.resolve();
  await sleep(10);
  expect(order).toEqual([0, 1, 2, 3]);
  for (const { lock } of locks) lock.resolve();
  await Promise.all(locks.map(({ done }) => done));
});

test("metrics show the age of the oldest request in progress, and the time until requests were stored", async () => {
  const registry = new Registry();
  const gate = createGate(10 * MIB, { registry });
  const lock = deferred<void>();
  const slow = gate.admit(request(MIB), LIMIT, () => lock.promise);
  await sleep(20);
  await gate.admit(request(MIB), LIMIT, () => Promise.resolve());
  await expect(gate.admit(request(MIB), LIMIT, () => Promise.reject(new Error("rejected")))).rejects.toThrow(
    "rejected",
  );
  expect(await registry.metrics()).toMatch(
    /^heddle_ingest_oldest_seconds 0\.0[2-9]|^heddle_ingest_oldest_seconds 0\.[1-9]/m,
  );
  lock.resolve();
  await slow;
  const text = await registry.metrics();
  expect(text).toContain("heddle_ingest_oldest_seconds 0\n");
  expect(text).toContain("heddle_ingest_request_duration_seconds_count 2\n");
});

test("a single request may exceed the budget, up to twice its size", async () => {
  const gate = createGate(MIB);
  await gate.admit(request(5 * MIB), LIMIT, async (body) => body.use(1.5 * MIB));
  const tooMuch = gate.admit(request(5 * MIB), LIMIT, async (body) => body.use(2.5 * MIB));
  await expect(tooMuch).rejects.toMatchObject({
    status: 429,
    headers: { "Retry-After": "2" },
  });
  // its body was released
  await gate.admit(request(MIB), LIMIT, async (body) => body.use(2 * MIB));
});

test("rejects requests at once when a thousand are waiting", async () => {
  const gate = createGate(MIB);
  const lock = deferred<void>();
  const all = Array.from({ length: 1002 }, () => gate.admit(request(MIB), LIMIT, () => lock.promise));
  await expect(gate.admit(request(MIB), LIMIT, () => lock.promise)).rejects.toMatchObject({ status: 429 });
  lock.resolve();
  await Promise.all(all);
});

test("a failed request releases its memory", async () => {
  const gate = createGate(MIB);
  for (let n = 0; n < 10; n++) {
    const failing = gate.admit(request(MIB), LIMIT, async (body) => {
      await body.use(MIB);
      throw new Error("on purpose");
    });
    await expect(failing).rejects.toThrow("on purpose");
  }
  expect(await gate.admit(request(MIB), LIMIT, () => Promise.resolve("in"))).toBe("in");
});

test("bodies of a tenant above its share are decoded one at a time, after a pause for another's query", async () => {
  const share = new FairShare({ processors: 2 });
  const gate = createGate(10 * MIB, { share });
  const decoded: string[] = [];
  const send = (tenantId: string) =>
    gate.admit(
      request(MIB),
      LIMIT,
      async (body) => {
        await body.turnToDecode();
        decoded.push(tenantId);
      },
      tenantId,
    );
  share.charge("heavy", 60_000);
  await share.run("light", () => Promise.resolve());
  const end = deferred<void>();
  const query = share.run("light", () => end.promise);
  const began = performance.now();
  const requests = [send("heavy"), send("heavy"), send("light")];
  await requests[2];
  expect(decoded).toEqual(["light"]);
  await requests[0];
  expect(decoded).toEqual(["light", "heavy"]);
  await requests[1];
  expect(performance.now() - began).toBeGreaterThanOrEqual(499);
  end.resolve();
  await query;
  // without a query of others nothing pauses
  await sleep(60);
  const resumed = performance.now();
  await Promise.all([send("heavy"), send("heavy")]);
  expect(performance.now() - resumed).toBeLessThan(200);
});

test("a large body is decoded after the one before it is stored and its garbage collected", async () => {
  const events: string[] = [];
  const gate = createGate(64 * MIB, {
    afterLarge: (bytes) => events.push(`collect ${bytes / MIB}`),
  });
  const send = (name: string, size: number) =>
    gate.admit(request(size), LIMIT, async (body) => {
      await body.use(size);
      await body.turnToDecode();
      events.push(`decode ${name}`);
      await sleep(20);
      events.push(`store ${name}`);
    });
  await Promise.all([send("a", 5 * MIB), send("b", 6 * MIB)]);
  expect(events).toEqual(["decode a", "store a", "collect 5", "decode b", "store b", "collect 6"]);
  await send("small", MIB);
  expect(events.slice(6)).toEqual(["decode small", "store small"]);
});
