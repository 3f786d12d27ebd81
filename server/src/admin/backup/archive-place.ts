import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { lstat, open, rename, rm, stat } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { dirname, resolve } from "node:path";

import type { Bucket } from "../../base/blob/bucket.ts";
import { openS3Bucket } from "../../base/blob/s3-bucket.ts";
import { type BackupSettings, readArchiveBucket } from "./settings.ts";

/** Where an archive is written to or read from: a file, or an object of a bucket. */
export interface ArchivePlace {
  /** Path, or s3://bucket/key. */
  shown: string;
  /**
   * Writes an archive and has `check` read it back. A file bears its name only when both have succeeded; an object is
   * deleted again when the check fails. @returns its bytes
   */
  write(chunks: AsyncIterable<Buffer>, check: (chunks: AsyncIterable<Uint8Array>) => Promise<void>): Promise<number>;
  /** @throws Error when there is no archive */
  read(): Promise<AsyncIterable<Uint8Array>>;
  exists(): Promise<boolean>;
  close(): void;
}

const S3_URL = /^s3:\/\/(?<bucket>[^/]+)\/(?<key>.+)$/;

export async function openArchivePlace(name: string, settings: BackupSettings): Promise<ArchivePlace> {
  if (!name.startsWith("s3:")) return filePlace(resolve(name));
  const { bucket, key } = S3_URL.exec(name)?.groups ?? {};
  if (bucket === undefined || key === undefined || key.endsWith("/")) {
    throw new Error(`An archive in a bucket is named s3://BUCKET/KEY, not ${name}.`);
  }
  const agents = { httpAgent: new HttpAgent({ keepAlive: true }), httpsAgent: new HttpsAgent({ keepAlive: true }) };
  const partBytes = settings.backupPartMb * 1024 * 1024;
  return objectPlace(
    await openS3Bucket(readArchiveBucket(settings, bucket), agents),
    { key, shown: name, partBytes },
    () => {
      agents.httpAgent.destroy();
      agents.httpsAgent.destroy();
    },
  );
}

function filePlace(path: string): ArchivePlace {
  return {
    shown: path,
    async write(chunks, check) {
      const aside = `${path}.partial`;
      // of a backup that was killed
      await rm(aside, { force: true });
      const stream = createWriteStream(aside, { flags: "wx", mode: 0o600, highWaterMark: 4 * 1024 * 1024 });
      const closed = once(stream, "close");
      closed.catch(() => {});
      try {
        let bytes = 0;
        const failed = new Promise<never>((_, reject) => stream.once("error", reject));
        failed.catch(() => {});
        for await (const chunk of chunks) {
          bytes += chunk.length;
          if (!stream.write(chunk)) await Promise.race([once(stream, "drain"), failed]);
        }
        stream.end();
        await Promise.race([closed, failed]);
        await sync(aside);
        await check(createReadStream(aside, { highWaterMark: 1024 * 1024 }));
        if (await exists(path)) throw new Error(`${path} has been created by another program. Nothing was replaced.`);
        await rename(aside, path);
        await sync(dirname(path));
        return bytes;
      } catch (error) {
        // which may still be opening the file
        stream.destroy();
        await closed.catch(() => {});
        await rm(aside, { force: true });
        throw error;
      }
    },
    async read() {
      await stat(path).catch((error: NodeJS.ErrnoException) => {
        throw error.code === "ENOENT" ? new Error(`There is no archive ${path}.`) : error;
      });
      return createReadStream(path, { highWaterMark: 1024 * 1024 });
    },
    exists: () => exists(path),
    close: () => {},
  };
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function objectPlace(
  bucket: Bucket,
  { key, shown, partBytes }: { key: string; shown: string; partBytes: number },
  close: () => void,
): ArchivePlace {
  const read = async () => {
    const found = await bucket.get(key);
    if (!found) throw new Error(`There is no archive ${shown}.`);
    return found.content;
  };
  return {
    shown,
    async write(chunks, check) {
      const { bytes } = await bucket.upload(key, chunks, { contentType: "application/x-tar", partBytes });
      try {
        await check(await read());
      } catch (error) {
        const isDeleted = await bucket.delete(key).then(
          () => true,
          () => false,
        );
        const { message } = error as Error;
        const what = isDeleted ? `${shown} was deleted.` : `Delete ${shown}: this key may not.`;
        throw new Error(`The archive could not be read back: ${message} ${what}`, { cause: error });
      }
      return bytes;
    },
    read,
    exists: async () => (await bucket.head(key)) !== undefined,
    close() {
      bucket.close();
      close();
    },
  };
}
