import { expect, test } from "vitest";

import { encodeFrame, FrameReader, type HostFrame } from "./host-protocol.ts";

const frame = (run_id: string, body: string): Buffer => encodeFrame({ t: "event", run_id, event: "values" }, body);

test("frames of any size are cut from chunks of any size, in order", () => {
  const bodies = ["", "small", "x".repeat(3_000_000), "ä".repeat(600_000), "y".repeat(1024 * 1024), "last"];
  const stream = Buffer.concat(bodies.map((body, n) => frame(String(n), body)));
  for (const size of [7 * 64 * 1024, 1_000_003, stream.length]) {
    const received: [string, string][] = [];
    const reader = new FrameReader<HostFrame & { run_id: string }>((header, body) =>
      received.push([header.run_id, body.toString()]),
    );
    for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size));
    expect(received.map(([id]) => id)).toEqual(bodies.map((_, n) => String(n)));
    expect(received.every(([, body], n) => body === bodies[n])).toBe(true);
  }
  const received: string[] = [];
  const reader = new FrameReader<HostFrame>((_, body) => received.push(body.toString()));
  for (const byte of frame("bytewise", "abc")) reader.push(Buffer.from([byte]));
  expect(received).toEqual(["abc"]);
});

test("bytes that are no frames are rejected, not collected", () => {
  const reader = new FrameReader<HostFrame>(() => {});
  expect(() => reader.push(Buffer.from("Traceback (most recent call last):\n"))).toThrow("not frames");
});
