import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import type { Sql } from "../db/connect.ts";
import type { FaultPoint } from "../fault-point.ts";
import { bucketLocation } from "./open-blobs.ts";
import { type BlobLocation, readLocationId, selectLocation, selectUser, updateLocation } from "./blob-location.ts";
import { BLOB_NAME } from "./blob-store.ts";
import type { S3BlobStore } from "./s3-blob-store.ts";

export interface MoveCounts {
  copied: number;
  /** Blobs copied already by an interrupted move. */
  there: number;
  bytes: number;
}

interface MoveBlobsParams {
  sql: Sql;
  directory: string;
  store: S3BlobStore;
  onProgress: (moved: MoveCounts) => void;
  faultPoint: FaultPoint;
}

/**
 * Copies the blobs of a directory into a bucket and records the bucket as their place. Repeatable: a blob that exists
 * with the same size is not copied again. The directory is left unchanged.
 *
 * @throws Error while a trace process uses the place; files copied so far are kept
 */
export async function moveBlobs({
  sql,
  directory,
  store,
  onProgress,
  faultPoint,
}: MoveBlobsParams): Promise<MoveCounts> {
  const target = bucketLocation(store.address);
  const known = await selectLocation(sql);
  if (known?.kind === "bucket") {
    if (known.id === target.id) return { copied: 0, there: 0, bytes: 0 };
    throw new Error(`Attachments are already stored in ${known.shown}; only a directory can be moved to a bucket.`);
  }
  if (known?.in_use && known.id !== (await readLocationId(directory))) {
    throw new Error(
      `Attachments are stored in ${known.shown}, not in ${directory}. Pass that directory with ` +
        "HEDDLE_BLOB_DIRECTORY or --data-dir, and run this command on its host.",
    );
  }
  await store.probe();
  const moved: MoveCounts = { copied: 0, there: 0, bytes: 0 };
  const done = new Set<string>();
  const copy = async () => {
    for await (const name of listBlobs(directory)) {
      if (done.has(name)) continue;
      const { size } = await lstat(join(directory, name));
      if ((await store.size(name)) === size) moved.there += 1;
      else {
        await store.put(name, await readFile(join(directory, name)));
        if ((await store.size(name)) !== size)
          throw new Error(`The bucket's copy of ${name} differs from the file that was uploaded.`);
        moved.copied += 1;
        moved.bytes += size;
        faultPoint("blob-copied");
      }
      done.add(name);
      if (done.size % 100 === 0) onProgress(moved);
    }
  };
  await copy();
  await sql.begin(async (tx) => {
    // a process that starts now waits for this lock, and is then rejected
    const [row] = await tx<BlobLocation[]>`select * from blob_place for update`;
    if (row && row.id !== known?.id)
      throw new Error("The recorded location changed while this command ran. Run it again.");
    const lastSeenSeconds = await selectUser(tx);
    if (lastSeenSeconds !== undefined) {
      throw new Error(
        `${moved.copied} files were copied, but a trace process is still using the directory (last seen ` +
          `${Math.round(lastSeenSeconds)} s ago). Stop it and run this command again; only new files will be copied.`,
      );
    }
    await copy();
    await updateLocation(tx, { ...target, in_use: true });
  });
  return moved;
}

/** Lists the names of the blobs below a directory, without partial files left by a crash. */
async function* listBlobs(directory: string, folder = ""): AsyncGenerator<string> {
  const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  });
  for (const entry of entries) {
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* listBlobs(directory, name);
    else if (entry.isFile() && BLOB_NAME.test(name)) yield name;
  }
}
