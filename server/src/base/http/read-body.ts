import { createGunzip, createInflate, type Gunzip, type Inflate } from "node:zlib";

import { Decompress as ZstdDecompress } from "fzstd";

import { AppError, coerceError } from "../errors.ts";
import type { Structure } from "../json-structure.ts";
import { takeTurns } from "../take-turns.ts";
import type { HeldBody, TenantBody } from "./held-body.ts";
import { ZstdFrames } from "./zstd-frames.ts";

/** Chunk size for fzstd, which keeps a window of its output and decompresses each chunk at once. */
const ZSTD_STEP = 128 * 1024;
/** Window that every decoder should support (RFC 8878 §3.1.1.1.2). */
const ZSTD_WINDOW = 8 * 1024 * 1024;

/** What may be read of a body. */
export interface BodyLimit {
  /** Largest body, compressed and decompressed. */
  maxBytes: number;
  /** Environment variable that sets `maxBytes`, which the error names. */
  setting?: string | undefined;
  /** Whether zstd is accepted: clients of traces send it, and its windows take memory beside the body's. */
  zstd?: boolean;
}

/**
 * Reads a body, decompressed, in chunks, and accounts for them and their elements as they arrive. Both compressed and decompressed sizes are counted on the
 * way: a few kilobytes can decompress to gigabytes.
 * @throws 413 and 422 beyond the limits, 400 for invalid compressed data, 415 for another encoding, 408 for a body that
 * was evicted, 429 or 503 without memory for it
 */
export async function* readBody(
  { body, headers }: Pick<Request, "body" | "headers">,
  limit: BodyLimit,
  held: HeldBody,
  structure?: Structure,
): AsyncGenerator<Buffer> {
  const unpack = unpacker(headers, limit);
  if (!body) return;
  let window = 0;
  const weigh = () => held.weigh(window + (structure?.weight ?? 0));
  const useWindow = (bytes: number) => {
    window = bytes;
    return weigh();
  };
  for await (const chunk of unpack(arriving(body, limit, held), limit, useWindow)) {
    await held.use(chunk.length);
    structure?.add(chunk);
    if (structure) await weigh();
    yield chunk;
  }
}

/** @throws 413 when the declared length is beyond the limit */
export function checkLength(headers: Headers, { maxBytes, setting }: BodyLimit): void {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) throw new BodyTooLargeError(maxBytes, setting);
}

/** @throws 415 for an encoding that is not supported */
export function unpacker(headers: Headers, { zstd: acceptsZstd = false }: BodyLimit): Unpacker {
  const encoding = (headers.get("content-encoding") || "identity").trim().toLowerCase();
  const unpack = encoding === "zstd" && !acceptsZstd ? undefined : UNPACKERS[encoding];
  const encodings = `identity, gzip${acceptsZstd ? ", deflate and zstd" : " and deflate"}`;
  if (!unpack) throw new AppError(415, `Content-Encoding: ${encoding} is not supported; use ${encodings}.`);
  return unpack;
}

/** Time within which the rest of a rejected body may arrive, so that its connection serves further requests. */
const LINGER_MS = 1000;

/** Passes a body through. @throws 408 when it is evicted, 413 when it is too large */
async function* arriving(
  body: ReadableStream<Uint8Array>,
  limit: BodyLimit,
  held: HeldBody,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let evict!: (error: AppError) => void;
  const evicted = new Promise<never>((_, reject) => (evict = reject));
  evicted.catch(() => {});
  held.onEvicted(evict);
  const check = sizeCheck(limit);
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await Promise.race([evicted, reader.read()]);
      if (done) break;
      check(value.byteLength);
      yield value;
    }
    isOver = true;
    held.arrived();
  } finally {
    if (!isOver) void discard(reader);
  }
}

async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), LINGER_MS).unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // the sender has left
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the whole body. Resolves when it is its turn to be decoded. */
export const readBuffer = (
  request: Request,
  limit: BodyLimit,
  held: TenantBody,
  structure?: Structure,
): Promise<Buffer> =>
  collect(readBody(request, limit, held, structure), knownLength(request.headers, limit.maxBytes), held);

/**
 * Joins the chunks of a body when it is its turn to be decoded; into one buffer from the beginning if the length is known,
 * so that they are not in memory twice.
 */
export async function collect(
  chunks: AsyncIterable<Buffer>,
  length: number | undefined,
  held: HeldBody,
): Promise<Buffer> {
  if (length === undefined) {
    const list: Buffer[] = [];
    for await (const chunk of chunks) list.push(chunk);
    await held.turnToDecode();
    return list.length === 1 ? list[0]! : Buffer.concat(list);
  }
  const body = Buffer.allocUnsafe(length);
  let at = 0;
  for await (const chunk of chunks) at += chunk.copy(body, at);
  await held.turnToDecode();
  return body.subarray(0, at);
}

/** Bodies below this are joined at the end: a sender that claims a length must not get memory for it. */
const JOINED_BYTES = 1024 * 1024;

export function knownLength(headers: Headers, maxBytes: number): number | undefined {
  const length = Number(headers.get("content-length") ?? 0);
  const isPlain = /^\s*identity\s*$/i.test(headers.get("content-encoding") ?? "identity");
  return isPlain && length >= JOINED_BYTES && length <= maxBytes ? length : undefined;
}

/** @param setting environment variable that raises the limit */
export class BodyTooLargeError extends AppError {
  constructor(maxBytes: number, setting?: string) {
    super(413, `The request body is larger than ${maxBytes} bytes${setting === undefined ? "" : ` (${setting})`}.`);
  }
}

/** Returns a function that adds bytes. @throws 413 beyond the limit */
function sizeCheck({ maxBytes, setting }: BodyLimit): (bytes: number) => void {
  let total = 0;
  return (bytes) => {
    total += bytes;
    if (total > maxBytes) throw new BodyTooLargeError(maxBytes, setting);
  };
}

/** @param useWindow accounts for what the decompressor itself takes, as far as it depends on the body */
type Unpacker = (
  body: AsyncIterable<Uint8Array>,
  limit: BodyLimit,
  useWindow: (bytes: number) => Promise<void>,
) => AsyncGenerator<Buffer>;

const UNPACKERS: Record<string, Unpacker> = {
  identity,
  gzip: zlib(createGunzip),
  "x-gzip": zlib(createGunzip),
  deflate: zlib(createInflate),
  zstd,
};

async function* identity(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

function zlib(create: () => Gunzip | Inflate): Unpacker {
  return async function* (body, limit) {
    const unpacked = create();
    const check = sizeCheck(limit);
    const feeding = feed(body, unpacked);
    try {
      for await (const chunk of unpacked) {
        check((chunk as Buffer).byteLength);
        yield chunk as Buffer;
      }
      await feeding;
    } catch (error) {
      throw String((error as { code?: unknown } | null)?.code).startsWith("Z_") ? notPacked(error) : error;
    } finally {
      unpacked.destroy();
      // not awaited: the rest of a rejected body may never arrive
      feeding.catch(() => {});
    }
  };
}

async function feed(body: AsyncIterable<Uint8Array>, unpacked: Gunzip | Inflate): Promise<void> {
  try {
    for await (const chunk of body) {
      if (unpacked.destroyed) return;
      if (!unpacked.write(chunk)) {
        await new Promise<void>((resolve) => {
          // both are removed: the listeners of "close" would add up
          const settle = () => {
            unpacked.off("drain", settle).off("close", settle);
            resolve();
          };
          unpacked.on("drain", settle).on("close", settle);
        });
      }
    }
    unpacked.end();
  } catch (error) {
    unpacked.destroy(coerceError(error));
  }
}

async function* zstd(
  body: AsyncIterable<Uint8Array>,
  limit: BodyLimit,
  useWindow: (bytes: number) => Promise<void>,
): AsyncGenerator<Buffer> {
  let unpacked: Buffer[] = [];
  let window = 0;
  let ended = false;
  const frames = new ZstdFrames(Math.max(limit.maxBytes, ZSTD_WINDOW));
  const check = sizeCheck(limit);
  const turn = takeTurns();
  const decompress = new ZstdDecompress((chunk, final) => {
    check(chunk.byteLength);
    // fzstd reuses its buffer
    if (chunk.byteLength > 0) unpacked.push(Buffer.from(chunk));
    ended = final === true;
  });
  const push = (chunk: Uint8Array, final: boolean) => {
    try {
      decompress.push(chunk, final);
    } catch (error) {
      throw error instanceof AppError ? error : notPacked(error);
    }
  };
  for await (const chunk of body) {
    for (let at = 0; at < chunk.byteLength;) {
      const rest = chunk.subarray(at, at + ZSTD_STEP);
      const step = frames.next(rest);
      if (frames.largestWindow > window) await useWindow((window = frames.largestWindow));
      push(rest.subarray(0, step), false);
      at += step;
      yield* unpacked;
      unpacked = [];
      await turn();
    }
  }
  push(new Uint8Array(0), true);
  yield* unpacked;
  if (!ended) throw notPacked(new Error("it is truncated"));
}

const notPacked = (cause: unknown): AppError =>
  new AppError(400, "The request body is not validly compressed.", { cause });
