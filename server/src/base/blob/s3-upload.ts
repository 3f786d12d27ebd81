import { createHash } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import type { StoredObject, UploadOptions } from "./bucket.ts";
import { StorageError } from "./s3-error.ts";

/** Calls that make up an upload; each throws StorageError. */
export interface UploadCalls {
  put(key: string, content: Uint8Array, options: UploadOptions): Promise<string>;
  start(key: string, options: UploadOptions): Promise<string>;
  part(key: string, uploadId: string, number: number, content: Uint8Array, signal: AbortSignal): Promise<string>;
  complete(key: string, uploadId: string, etags: string[], signal: AbortSignal): Promise<string>;
  /** Resolves when nothing of the upload is left. */
  abort(key: string, uploadId: string): Promise<void>;
}

const MIB = 1024 * 1024;
/** S3 accepts 10,000 parts of 5 MiB to 5 GiB; some stores require all but the last to be of one size. */
const MOST_PARTS = 10_000;
const SMALLEST_PART = 8 * MIB;
/** Concurrent parts: with the part being filled, memory is bounded by (this + 1) parts. */
const PARTS_AT_ONCE = 3;
/** Time to wait for the answer to a cancelled call. */
const ANSWER_MS = 2_000;

/** Returns a part size in whole MiB that leaves a margin below the maximum number of parts. */
export const partSize = (size = 0): number => Math.max(SMALLEST_PART, Math.ceil(size / (MOST_PARTS - 100) / MIB) * MIB);

/** Implements Bucket.upload. */
export async function uploadStream(
  calls: UploadCalls,
  key: string,
  content: AsyncIterable<Uint8Array>,
  options: UploadOptions = {},
): Promise<StoredObject> {
  const hash = createHash("sha256");
  const buffers = partBuffers(options.partBytes ?? partSize(options.size), options.size);
  const pieces = inParts(content, buffers.take, hash);
  const first = (await pieces.next()).value ?? Buffer.alloc(0);
  const second = (await pieces.next()).value;
  const putWhole = async () => {
    requireSize(key, first.length, options.size);
    const etag = await calls.put(key, first, options);
    options.onProgress?.(first.length);
    return { bytes: first.length, etag, sha256: hash.digest("hex") };
  };
  if (!second && !options.alwaysInParts) return putWhole();
  let uploadId: string;
  try {
    uploadId = await startUpload(calls, key, options);
  } catch (error) {
    // some stores need a separate, optional permission for this (storage.multipartUploads.create)
    const isRejected = error instanceof StorageError && error.reason === "access_denied";
    if (second || !isRejected) throw error;
    return putWhole();
  }
  // one failure cancels the other parts
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const underWay = new Set<Promise<void>>();
  try {
    await options.onStart?.(uploadId);
    const etags: string[] = [];
    let parts = 0;
    let bytes = 0;
    let acknowledged = 0;
    let failure: { error: unknown } | undefined;
    const send = (part: Buffer) => {
      const number = ++parts;
      if (number > MOST_PARTS) throw tooLong(key);
      bytes += part.length;
      const sending = calls
        .part(key, uploadId, number, part, signal)
        .then((etag) => {
          etags[number - 1] = etag;
          acknowledged += part.length;
          options.onProgress?.(acknowledged);
        })
        .catch((error: unknown) => {
          failure ??= { error };
          stop.abort();
        })
        .finally(() => {
          underWay.delete(sending);
          buffers.giveBack(part);
        });
      underWay.add(sending);
    };
    send(first);
    if (second) send(second);
    for await (const part of pieces) {
      while (underWay.size >= PARTS_AT_ONCE) await Promise.race(underWay);
      if (failure) break;
      send(part);
    }
    await Promise.all(underWay);
    if (failure) throw failure.error;
    options.signal?.throwIfAborted();
    requireSize(key, bytes, options.size);
    const etag = await calls.complete(key, uploadId, etags, signal);
    return { bytes, etag, sha256: hash.digest("hex") };
  } catch (error) {
    stop.abort();
    // a part that arrives after the abort would continue to occupy storage
    await Promise.all(underWay);
    const ending = calls.abort(key, uploadId).catch(() => {});
    // a caller that cancels does not wait for a store that hangs
    await Promise.race([ending, ...(options.signal?.aborted ? [sleep(ANSWER_MS, undefined, { ref: false })] : [])]);
    throw error;
  }
}

/**
 * Starts a multipart upload. A cancelled start may still have reached the store, and an upload with an unknown id could
 * not be aborted: the answer is awaited for a while, and the upload is aborted whenever it arrives.
 */
async function startUpload(calls: UploadCalls, key: string, { signal, ...options }: UploadOptions): Promise<string> {
  signal?.throwIfAborted();
  const starting = calls.start(key, options);
  if (!signal) return starting;
  const settled = new AbortController();
  const aborted = once(signal, "abort", settled).then(() => sleep(ANSWER_MS, undefined, settled));
  try {
    await Promise.race([starting, aborted]);
  } finally {
    settled.abort();
    aborted.catch(() => {});
  }
  if (!signal.aborted) return starting;
  const ending = starting.then((uploadId) => calls.abort(key, uploadId)).catch(() => {});
  await Promise.race([ending, sleep(ANSWER_MS, undefined, { ref: false })]);
  throw signal.reason;
}

/**
 * Pools buffers of `size` bytes: an upload would otherwise leave as much garbage as it has bytes, outside V8's heap,
 * where it is collected late. Content known to be smaller gets a buffer of its exact size.
 */
function partBuffers(size: number, expected = size) {
  const length = Math.max(1, Math.min(size, expected));
  const free: Buffer[] = [];
  return {
    take: () => free.pop() ?? Buffer.allocUnsafeSlow(length),
    giveBack: (part: Buffer) => {
      if (part.length === length) free.push(part);
    },
  };
}

/**
 * Splits a stream into pieces that fill a buffer of `take`; the last may be shorter. Yields nothing for an empty
 * stream. A chunk is no longer used once the next one is requested.
 */
async function* inParts(
  content: AsyncIterable<Uint8Array>,
  take: () => Buffer,
  hash: { update(chunk: Uint8Array): unknown },
): AsyncGenerator<Buffer, undefined> {
  let part = take();
  let filled = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    for (let at = 0; at < chunk.length;) {
      // the part is yielded only when more bytes follow, which begin the next part
      if (filled === part.length) {
        yield part;
        part = take();
        filled = 0;
      }
      const length = Math.min(part.length - filled, chunk.length - at);
      part.set(at === 0 && length === chunk.length ? chunk : chunk.subarray(at, at + length), filled);
      filled += length;
      at += length;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

/** Requires the announced size, so that content that shrank or grew during the upload is not accepted. */
function requireSize(key: string, bytes: number, expected: number | undefined): void {
  if (expected === undefined || bytes === expected) return;
  const message = `upload of ${key}: ${bytes} bytes were received, ${expected} were declared`;
  throw new StorageError("unavailable", message, { code: "SizeMismatch" });
}

const tooLong = (key: string): StorageError =>
  new StorageError("rejected", `upload of ${key}: needs more than ${MOST_PARTS} parts`, {
    code: "EntityTooLarge",
  });
