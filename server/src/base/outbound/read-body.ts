import type { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { OutboundError } from "./outbound-error.ts";

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Encodings that we accept. */
export const ACCEPT_ENCODING = "gzip, deflate, br";

/**
 * Reads and decodes a whole body of at most `maxBytes` bytes, both encoded and decoded, so that neither a long response
 * nor a decompression bomb exceeds that memory.
 */
export async function readLimitedBody(source: Readable, encoding: string, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new OutboundError("too_large", `The response exceeds ${maxBytes} bytes.`);
  const name = encoding.trim().toLowerCase();
  const decoder = name === "" || name === "identity" ? undefined : DECODERS[name];
  if (name !== "" && name !== "identity" && !decoder) {
    // undici emits an abort error on the destroyed stream, and without a listener it would crash the process
    source.on("error", () => {}).destroy();
    throw new OutboundError("network", `The response has an encoding that was not requested: ${name.slice(0, 40)}.`);
  }
  let received = 0;
  async function* count(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      received += chunk.length;
      if (received > maxBytes) throw tooLarge();
      yield chunk;
    }
  }
  const bodyChunks: Buffer[] = [];
  let size = 0;
  async function keep(chunks: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      bodyChunks.push(chunk);
    }
  }
  if (decoder) await pipeline(source, count, decoder(), keep);
  else await pipeline(source, count, keep);
  return Buffer.concat(bodyChunks);
}
