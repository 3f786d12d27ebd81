import { createWriteStream } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

import { AppError, unavailable } from "../../base/errors.ts";
import { shortageIn } from "../../base/shortage.ts";

const GZIP = Buffer.of(0x1f, 0x8b);

/** Returns the file of an uploaded archive. Its name is a UUID of ours; caller input never becomes a path. */
export const uploadFile = (directory: string, objectPath: string): string =>
  join(directory, "uploads", basename(objectPath));

export const archiveTooLarge = (maxBytes: number): AppError =>
  new AppError(413, `The archive is larger than ${maxBytes} bytes (HEDDLE_UPLOAD_MAX_BYTES).`);

/**
 * Streams an archive to disk atomically. 413 beyond `maxBytes`, 400 when it is not gzip.
 * @returns its size in bytes
 */
export async function receiveUpload(
  body: ReadableStream<Uint8Array> | null,
  file: string,
  maxBytes: number,
): Promise<number> {
  if (!body) throw new AppError(400, "The request contains no archive.");
  await mkdir(join(file, ".."), { recursive: true, mode: 0o700 });
  const part = `${file}.${process.pid}.${Date.now()}.part`;
  let size = 0;
  let head = Buffer.alloc(0);
  const check = new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length;
      if (head.length < 2) head = Buffer.concat([head, chunk.subarray(0, 2)]).subarray(0, 2);
      if (size > maxBytes) return done(archiveTooLarge(maxBytes));
      if (head.length === 2 && !head.equals(GZIP)) return done(new AppError(400, "The archive is not a gzip file."));
      done(null, chunk);
    },
  });
  try {
    await pipeline(Readable.fromWeb(body as never), check, createWriteStream(part, { mode: 0o600 }));
    if (head.length < 2) throw new AppError(400, "The archive is empty.");
    const handle = await open(part, "r");
    await handle.sync().finally(() => handle.close());
    await rename(part, file);
    return size;
  } catch (error) {
    await rm(part, { force: true });
    if (error instanceof AppError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (shortageIn(error)) throw unavailable("The archive could not be stored: the server's disk is full.", 5, error);
    if (code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE") {
      throw new AppError(400, "The archive did not arrive completely.");
    }
    throw error;
  }
}
