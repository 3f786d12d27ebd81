import { randomBytes } from "node:crypto";

import { compress } from "@mongodb-js/zstd";
import { expect, test } from "vitest";

import { BodyGate } from "./body-gate.ts";
import { readBuffer } from "./read-body.ts";

const MIB = 1024 * 1024;
const gate = new BodyGate({ bytes: 64 * MIB, reserves: true });

/** Decompresses a body that arrives in pieces of so many bytes. */
function unpack(packed: Buffer, pieces = 65_536): Promise<Buffer> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < packed.length; at += pieces) controller.enqueue(packed.subarray(at, at + pieces));
      controller.close();
    },
  });
  const init = { method: "POST", headers: { "Content-Encoding": "zstd" }, body, duplex: "half" };
  const request = new Request("http://localhost/", init as RequestInit);
  return gate.admit(6 * packed.length, (held) => readBuffer(request, { maxBytes: 64 * MIB, zstd: true }, held));
}

const bytes = (value: number, count: number) => {
  const buffer = Buffer.alloc(count);
  buffer.writeUIntLE(value, 0, count);
  return buffer;
};
const MAGIC = bytes(0xfd2fb528, 4);
/** Header of a frame whose window has this logarithm. */
const frame = (windowLog: number) => Buffer.concat([MAGIC, Buffer.from([0x00, (windowLog - 10) << 3])]);
const raw = (content: string, isLast = false) =>
  Buffer.concat([bytes((content.length << 3) | (isLast ? 1 : 0), 3), Buffer.from(content)]);
const skippable = (count: number) => Buffer.concat([bytes(0x184d2a53, 4), bytes(count, 4), Buffer.alloc(count, "s")]);

const CONTENTS: Record<string, Buffer> = {
  nothing: Buffer.alloc(0),
  "a short text": Buffer.from("a short text"),
  "random bytes": randomBytes(3 * MIB),
  "a repeated text": Buffer.from('{"role":"user","content":"hello"},'.repeat(300_000)),
  zeros: Buffer.alloc(40 * MIB),
};

test.each(Object.entries(CONTENTS))("decompresses %s at any level", async (_, content) => {
  for (const level of [1, 3, 19]) {
    const packed = await compress(content, level);
    for (const pieces of [packed.length + 1, 1000]) expect((await unpack(packed, pieces)).equals(content)).toBe(true);
  }
});

test("decompresses several frames, skippable ones and checksums, wherever the pieces end", async () => {
  const packed = Buffer.concat([
    frame(17),
    raw("one "),
    raw("two "),
    raw("", true),
    skippable(3),
    frame(20),
    raw("three", true),
  ]);
  for (const pieces of [1, 2, 3, 5, packed.length])
    expect((await unpack(packed, pieces)).toString()).toBe("one two three");
});

const HOSTILE: Record<string, [Buffer, number]> = {
  "a window of two gigabytes": [Buffer.concat([frame(31), raw("x", true)]), 413],
  "a window beyond any memory": [Buffer.concat([frame(41), raw("x", true)]), 413],
  "a content of two gigabytes in one segment": [
    Buffer.concat([MAGIC, Buffer.from([0xa0]), bytes(2 ** 31, 4), raw("x", true)]),
    413,
  ],
  "empty blocks": [Buffer.concat([frame(23), Buffer.alloc(3 * 100_000), raw("", true)]), 413],
  "blocks of a byte": [Buffer.concat([frame(23), Buffer.alloc(4 * 100_000, raw("x")), raw("", true)]), 413],
  "empty frames": [Buffer.alloc(9 * 100_000, Buffer.concat([frame(23), raw("", true)])), 413],
  "blocks of a reserved type": [Buffer.concat([frame(20), bytes(6, 3)]), 400],
  "another format": [Buffer.from("a text that is not compressed"), 400],
  "half a frame": [Buffer.concat([frame(20), bytes(800, 3), Buffer.from("short")]), 400],
};

test.each(Object.entries(HOSTILE))("rejects %s in little time", async (_, [packed, status]) => {
  const before = process.memoryUsage().rss;
  const began = process.cpuUsage();
  await expect(unpack(packed)).rejects.toMatchObject({ status });
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1e6).toBeLessThan(20);
  // a thousand windows of 8 MiB, one at a time: how many of them wait for the collector depends on the machine
  expect((process.memoryUsage().rss - before) / MIB).toBeLessThan(400);
});
