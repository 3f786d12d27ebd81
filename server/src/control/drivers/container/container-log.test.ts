import { expect, test } from "vitest";

import { Demultiplexer } from "./container-log.ts";

const frame = (stream: number, text: string): Buffer => {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
};

test("reassembles frames in order, wherever the chunks are cut", () => {
  const bytes = Buffer.concat([frame(1, "one\n"), frame(2, ""), frame(2, "zwölf\n"), frame(1, "x".repeat(300))]);
  for (const size of [1, 7, 9, bytes.length]) {
    const demultiplexer = new Demultiplexer();
    const found: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) found.push(...demultiplexer.push(bytes.subarray(at, at + size)));
    expect(found.map(String)).toEqual(["one\n", "", "zwölf\n", "x".repeat(300)]);
  }
});
