import { createGunzip, createInflate, type Gunzip, type Inflate } from "node:zlib";

import { Decompress as ZstdDecompress } from "fzstd";

import { AppError, coerceError } from "../../base/errors.ts";
import { MIN_BODY_PACE } from "../../base/http/body-gate.ts";
import { BodyTooLargeError, discardRest } from "../../base/http/hold-body.ts";
import type { Structure, StructureLimit } from "../../base/json-structure.ts";
import { BODY_SETTING } from "../settings.ts";
import { takeTurns } from "../../base/take-turns.ts";
import type { Reservation } from "./ingest-gate.ts";
import { ZstdFrames } from "./zstd-frames.ts";

/** Supported Content-Encodings, as worded in the 415 error. */
const ENCODINGS = "identity, gzip, deflate and zstd";

/** Chunk size for fzstd, which keeps a window of its output and decompresses each chunk at once. */
const ZSTD_STEP = 128 * 1024;
/** Window that every decoder should support (RFC 8878 §3.1.1.1.2). */
const ZSTD_WINDOW = 8 * 1024 * 1024;

/**
 * Reads a request's body, decompressed, in chunks. Both compressed and decompressed sizes are counted on the way: a few
 * kilobytes can decompress to gigabytes.
 * @throws 413 beyond `maxBytes`, 400 for invalid compressed data, 415 for another encoding
 */
export async function* readBody(
  request: Request,
  maxBytes: number,
  reservation: Reservation,
  structure?: NewStructure,
): AsyncGenerator<Buffer> {
  const encoding = (request.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  const count = counter(maxBytes, reservation);
  const unpack = UNPACKERS[encoding];
  if (!unpack) throw new AppError(415, `Content-Encoding: ${encoding} is not supported; use ${ENCODINGS}.`);
  if (!request.body) return;
  const chunks = unpack(atPace(request.body, reservation), count, maxBytes);
  yield* structure ? weighed(chunks, structure({ maxBytes, setting: BODY_SETTING }), reservation) : chunks;
}

/** Counts the elements of a body as it arrives, so that it is rejected before it is decompressed as a whole. */
export type NewStructure = (limit: StructureLimit) => Structure;

/** A body of so many bytes cannot be expensive, and most are no larger. */
const SMALL_BYTES = 16 * 1024;

/** Passes chunks on and counts their elements. @throws 413 or 422 beyond the limits of the structure */
async function* weighed(
  chunks: AsyncGenerator<Buffer>,
  structure: Structure,
  reservation: Reservation,
): AsyncGenerator<Buffer> {
  let small: Buffer[] | undefined = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    small?.push(chunk);
    bytes += chunk.length;
    if (bytes > SMALL_BYTES) {
      for (const waiting of small ?? [chunk]) structure.add(waiting);
      small = undefined;
    }
    yield chunk;
  }
  reservation.weigh(structure.weight);
}

/** Time that the arrival of a body may take beyond that of its bytes at the minimum pace. */
const GRACE_MS = 3000;
const CHECK_MS = 500;

/**
 * Passes a body through. @throws 408 when it arrives more slowly than `MIN_BODY_PACE` while others wait
 * for room
 */
async function* atPace(body: ReadableStream<Uint8Array>, reservation: Reservation): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const startedAt = performance.now();
  let received = 0;
  let cut!: (error: Error) => void;
  const slow = new Promise<never>((_, reject) => (cut = reject));
  slow.catch(() => {});
  let isOver = false;
  const timer = setInterval(() => {
    const seconds = (performance.now() - startedAt - GRACE_MS) / 1000;
    if (seconds > 0 && reservation.isWanted() && received < seconds * MIN_BODY_PACE) {
      cut(new AppError(408, "The request body arrived too slowly while other requests waited for memory. Try again."));
    }
  }, CHECK_MS);
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), slow]);
      isOver = done;
      if (done) return;
      received += value.byteLength;
      yield value;
    }
  } finally {
    clearInterval(timer);
    // not awaited: it may never settle
    if (!isOver) void discard(reader);
  }
}

/** Time within which the rest of a rejected body may arrive: a connection that is closed before loses the answer. */
const LINGER_MS = 1000;

async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), LINGER_MS).unref();
  await discardRest(reader);
  clearTimeout(timer);
}

/** Reads the whole body as text. */
export async function readText(
  request: Request,
  maxBytes: number,
  reservation: Reservation,
  structure: NewStructure,
): Promise<string> {
  return (await readBuffer(request, maxBytes, reservation, structure)).toString("utf8");
}

/** Reads the whole body. Resolves when it is its turn to be decoded. */
export async function readBuffer(
  request: Request,
  maxBytes: number,
  reservation: Reservation,
  structure?: NewStructure,
): Promise<Buffer> {
  const body = await collect(readBody(request, maxBytes, reservation, structure), knownLength(request, maxBytes));
  await reservation.turnToDecode();
  return body;
}

/** Joins chunks; into one buffer from the beginning if the length is known, so that they are not in memory twice. */
async function collect(chunks: AsyncIterable<Buffer>, length: number | undefined): Promise<Buffer> {
  if (length === undefined) {
    const list: Buffer[] = [];
    for await (const chunk of chunks) list.push(chunk);
    return list.length === 1 ? list[0]! : Buffer.concat(list);
  }
  const body = Buffer.allocUnsafe(length);
  let at = 0;
  for await (const chunk of chunks) at += chunk.copy(body, at);
  return body.subarray(0, at);
}

/** Bodies below this are joined at the end: a sender that claims a length must not get memory for it. */
const JOINED_BYTES = 1024 * 1024;

function knownLength({ headers }: Request, maxBytes: number): number | undefined {
  const length = Number(headers.get("content-length") ?? 0);
  const isPlain = /^\s*identity\s*$/i.test(headers.get("content-encoding") ?? "identity");
  return isPlain && length >= JOINED_BYTES && length <= maxBytes ? length : undefined;
}

type Count = (bytes: number) => void;

function counter(maxBytes: number, reservation: Reservation): Count {
  let total = 0;
  return (bytes) => {
    total += bytes;
    if (total > maxBytes) throw new BodyTooLargeError(maxBytes, BODY_SETTING);
    reservation.use(bytes);
  };
}

type Unpacker = (body: AsyncIterable<Uint8Array>, count: Count, maxBytes: number) => AsyncGenerator<Buffer>;

const UNPACKERS: Record<string, Unpacker> = {
  identity,
  gzip: zlib("gzip", createGunzip),
  "x-gzip": zlib("gzip", createGunzip),
  deflate: zlib("deflate", createInflate),
  zstd,
};

async function* identity(body: AsyncIterable<Uint8Array>, count: Count): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    count(chunk.byteLength);
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
}

function zlib(encoding: string, create: () => Gunzip | Inflate): Unpacker {
  return async function* (body, count) {
    const unpacked = create();
    const feeding = feed(body, unpacked);
    try {
      for await (const chunk of unpacked) {
        count((chunk as Buffer).byteLength);
        yield chunk as Buffer;
      }
      await feeding;
    } catch (error) {
      throw error instanceof AppError ? error : cannotUnpack(encoding, error);
    } finally {
      unpacked.destroy();
      await feeding.catch(() => {});
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

async function* zstd(body: AsyncIterable<Uint8Array>, count: Count, maxBytes: number): AsyncGenerator<Buffer> {
  let unpacked: Buffer[] = [];
  let ended = false;
  const frames = new ZstdFrames(Math.max(maxBytes, ZSTD_WINDOW));
  const turn = takeTurns();
  const decompress = new ZstdDecompress((chunk, final) => {
    count(chunk.byteLength);
    // fzstd reuses its buffer
    if (chunk.byteLength > 0) unpacked.push(Buffer.from(chunk));
    ended = final === true;
  });
  const push = (chunk: Uint8Array, final: boolean) => {
    try {
      decompress.push(chunk, final);
    } catch (error) {
      throw error instanceof AppError ? error : cannotUnpack("zstd", error);
    }
  };
  for await (const chunk of body) {
    for (let at = 0; at < chunk.byteLength;) {
      const rest = chunk.subarray(at, at + ZSTD_STEP);
      const step = frames.next(rest);
      push(rest.subarray(0, step), false);
      at += step;
      yield* unpacked;
      unpacked = [];
      await turn();
    }
  }
  push(new Uint8Array(0), true);
  yield* unpacked;
  if (!ended) throw cannotUnpack("zstd", new Error("it is truncated"));
}

const cannotUnpack = (encoding: string, error: unknown): AppError =>
  new AppError(400, `The request body is not valid ${encoding}: ${coerceError(error).message}`, { cause: error });
