import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
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
  /** Writes an archive, which exists under its name only when all of it is durable. @returns its bytes */
  write(chunks: AsyncIterable<Buffer>): Promise<number>;
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
    async write(chunks) {
      const aside = `${path}.partial`;
      const stream = createWriteStream(aside, { mode: 0o600, highWaterMark: 4 * 1024 * 1024 });
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
    exists: () =>
      stat(path).then(
        () => true,
        () => false,
      ),
    close: () => {},
  };
}

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
  return {
    shown,
    async write(chunks) {
      return (await bucket.upload(key, chunks, { contentType: "application/x-tar", partBytes })).bytes;
    },
    async read() {
      const found = await bucket.get(key);
      if (!found) throw new Error(`There is no archive ${shown}.`);
      return found.content;
    },
    exists: async () => (await bucket.head(key)) !== undefined,
    close() {
      bucket.close();
      close();
    },
  };
}
