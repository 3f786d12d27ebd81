import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";

import { expect, test } from "vitest";

import { BodyGate } from "./body-gate.ts";
import { readBuffer } from "./read-body.ts";

const MIB = 1024 * 1024;
const LIMIT = { maxBytes: 64 * MIB, zstd: true };

test("a large compressed body adds no listeners, whatever its number of chunks", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  const content = randomBytes(4 * MIB);
  const packed = gzipSync(content);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < packed.length; at += 65_536) controller.enqueue(packed.subarray(at, at + 65_536));
      controller.close();
    },
  });
  const headers = { "Content-Encoding": "gzip" };
  const request = new Request("http://localhost/", {
    method: "POST",
    headers,
    body,
    duplex: "half",
  } as RequestInit);
  const gate = new BodyGate({ bytes: 64 * MIB, reserves: true });
  const read = await gate.admit(6 * MIB, (held) => readBuffer(request, LIMIT, held), "one");
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", note);
  expect(read.equals(content)).toBe(true);
  expect(warnings).toEqual([]);
});

test.each([
  ["for a request that waits for memory", 2 * MIB],
  ["for another body of its size", 20 * MIB],
])("a stalled body is cancelled %s", async (_, length) => {
  const gate = new BodyGate({ bytes: 4 * MIB, reserves: true, waitMs: 10_000 });
  const bodies: ReadableStreamDefaultController<Uint8Array>[] = [];
  const cancelled = new Set<ReadableStreamDefaultController<Uint8Array>>();
  /** Sends ten bytes of a body, then stalls. */
  const stalled = () => {
    const at = bodies.length;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(10));
        bodies.push(controller);
      },
      cancel() {
        cancelled.add(bodies[at]!);
      },
    });
    const request = new Request("http://localhost/", {
      method: "POST",
      body,
      duplex: "half",
    } as RequestInit);
    return gate
      .admit(6 * length, (held) => readBuffer(request, LIMIT, held), "one")
      .then(({ length }) => length)
      .catch((error: { status: number }) => error.status);
  };
  const slow = [stalled(), stalled()];
  expect(await gate.admit(3 * MIB, () => Promise.resolve("in"), "two")).toBe("in");
  await expect.poll(() => cancelled.size, { timeout: 10_000 }).toBe(1);
  // bodies that block no other request are left alone
  for (const body of bodies) if (!cancelled.has(body)) body.close();
  expect((await Promise.all(slow)).toSorted()).toEqual([10, 408]);
});

test("the rest of a rejected body is read, as a connection that is closed before loses the answer", async () => {
  const gate = new BodyGate({ bytes: 64 * MIB, reserves: true });
  let [left, wasCancelled] = [20, false];
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (left-- > 0) controller.enqueue(randomBytes(65_536));
        else controller.close();
      },
      cancel: () => void (wasCancelled = true),
    },
    { highWaterMark: 0 },
  );
  const request = new Request("http://localhost/", { method: "POST", body, duplex: "half" } as RequestInit);
  const read = gate.admit(MIB, (held) => readBuffer(request, { maxBytes: 100_000 }, held), "one");
  await expect(read).rejects.toMatchObject({ status: 413 });
  await expect.poll(() => left, { timeout: 10_000 }).toBeLessThan(0);
  expect(wasCancelled).toBe(false);
});

test("the window of a zstd frame is accounted for before it is allocated", async () => {
  const gate = new BodyGate({ bytes: 64 * MIB });
  // no content size, a window of 16 MiB, and a last block of ten equal bytes
  const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70, 0x53, 0x00, 0x00, 0x78]);
  const headers = { "Content-Encoding": "zstd" };
  const request = new Request("http://localhost/", { method: "POST", body: frame, headers });
  const held = gate.hold("one");
  expect((await readBuffer(request, LIMIT, held)).toString()).toBe("x".repeat(10));
  expect(gate.used).toBe(16 * MIB + 10);
  held.end();
  expect(gate.used).toBe(0);
});
