import { hostname } from "node:os";

import { bucketLocation, blobDirectory } from "../base/blob/open-blobs.ts";
import { directoryLocation, selectLocation, selectUser, updateLocation } from "../base/blob/blob-location.ts";
import { type MoveCounts, moveBlobs } from "../base/blob/move-blobs.ts";
import { S3BlobStore } from "../base/blob/s3-blob-store.ts";
import { blobOptions, readBucket } from "../base/blob/settings.ts";
import { readOptions } from "../base/config/options.ts";
import { createFaultPoint } from "../base/fault-point.ts";
import { recordCommand } from "./record-command.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

type Environment = Record<string, string | undefined>;

export interface BlobsStatus {
  /** Null before the first trace process has recorded a location. */
  shown: string | null;
  inUse: boolean;
  isAlive: boolean;
}

export const blobsStatus = (location: DataLocation): Promise<BlobsStatus> =>
  withDatabase(location, async ({ sql }) => {
    const known = await selectLocation(sql);
    const isAlive = (await selectUser(sql)) !== undefined;
    return { shown: known?.shown ?? null, inUse: known?.in_use ?? false, isAlive };
  });

/** Copies the blobs of the directory into the configured bucket. @returns the counts and the bucket's address */
export async function moveToBucket(
  location: DataLocation,
  env: Environment,
  onProgress: (moved: MoveCounts) => void,
): Promise<MoveCounts & { to: string; from: string }> {
  const settings = readOptions(blobOptions, env);
  // the directory is the source here, and may be configured beside the bucket
  const bucket = readBucket({ ...settings, blobDirectory: undefined });
  if (!bucket) throw new Error("HEDDLE_BLOB_BUCKET is not set. Set it to the bucket that attachments are moved to.");
  const store = await S3BlobStore.open(bucket);
  const from = blobDirectory(settings, location.dataDir);
  try {
    return await withDatabase(location, async ({ sql, log }) => {
      const faultPoint = createFaultPoint(env["HEDDLE_FAULT_POINTS"]);
      const moved = await moveBlobs({ sql, directory: from, store, onProgress, faultPoint });
      const target = { from, to: store.address, copied: String(moved.copied) };
      await recordCommand(sql, log, "heddle blobs move", target, { location });
      return { ...moved, from, to: store.address };
    });
  } finally {
    store.close();
  }
}

/** Records the configured location, overriding any recorded one. @returns the previous location and the current one */
export async function adoptLocation(
  location: DataLocation,
  env: Environment,
): Promise<{ before: string | null; now: string }> {
  const settings = readOptions(blobOptions, env);
  const bucket = readBucket(settings);
  const directory = blobDirectory(settings, location.dataDir);
  const store = bucket && (await S3BlobStore.open(bucket));
  try {
    await store?.probe();
    return await withDatabase(location, async ({ sql, log }) => {
      const now = store
        ? { ...bucketLocation(store.address), in_use: true }
        : await directoryLocation(directory, `${directory} on ${hostname()}`);
      const before = await sql.begin(async (tx) => {
        await tx`select 1 from blob_place for update`;
        const known = await selectLocation(tx);
        if ((await selectUser(tx)) !== undefined) {
          throw new Error(
            `A trace process is using ${known?.shown ?? "the attachments"}. Stop all trace processes and run ` +
              "this command again.",
          );
        }
        await updateLocation(tx, now);
        return known?.shown ?? null;
      });
      await recordCommand(sql, log, "heddle blobs adopt", { before: before ?? "", now: now.shown }, { location });
      return { before, now: now.shown };
    });
  } finally {
    store?.close();
  }
}
