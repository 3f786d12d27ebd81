import { hostname } from "node:os";
import { join, resolve } from "node:path";

import { ConfigError } from "../config/options.ts";
import type { Sql } from "../db/connect.ts";
import { uuid7 } from "../ids.ts";
import type { Log } from "../log.ts";
import { type BlobPlace, claimPlace, directoryPlace, holdsBlobs, readPlaceId, selectPlace } from "./blob-place.ts";
import { FileBlobStore } from "./blob-store.ts";
import { PlacedBlobs } from "./placed-blobs.ts";
import { S3BlobStore } from "./s3-blob-store.ts";
import { type BlobSettings, readBucket } from "./settings.ts";

export interface OpenBlobsOptions {
  sql: Sql;
  log: Log;
  dataDir: string;
  settings: BlobSettings;
}

export interface OpenedBlobs {
  blobs: PlacedBlobs;
  stop(): Promise<void>;
}

export const blobDirectory = (settings: BlobSettings, dataDir: string): string =>
  resolve(settings.blobDirectory ?? join(dataDir, "blobs"));

/** Opens the configured store of blobs. @throws ConfigError when the database has another place recorded */
export async function openBlobs({ sql, log, dataDir, settings }: OpenBlobsOptions): Promise<OpenedBlobs> {
  const bucket = readBucket(settings);
  const store = bucket ? await S3BlobStore.open(bucket) : new FileBlobStore(blobDirectory(settings, dataDir));
  const close = () => store instanceof S3BlobStore && store.close();
  const processId = uuid7();
  try {
    const place = await describe(store, settings, dataDir);
    const directory = blobDirectory(settings, dataDir);
    // blobs of a version that recorded no place
    if (bucket && !(await selectPlace(sql)) && (await holdsBlobs(directory))) {
      throw new ConfigError(
        `There are attachments in ${directory}. Bring them to ${place.shown} first: heddle blobs move.`,
      );
    }
    const refusal = await claimPlace(sql, place, processId);
    if (refusal) throw new ConfigError(explain(refusal.place, refusal.isAlive, place));
    const blobs = new PlacedBlobs({
      sql,
      log,
      store,
      place,
      processId,
      probe: prober(store, place, settings, dataDir),
    });
    blobs.start();
    return {
      blobs,
      async stop() {
        await blobs.stop();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

async function describe(store: FileBlobStore | S3BlobStore, settings: BlobSettings, dataDir: string) {
  if (store instanceof S3BlobStore) return bucketPlace(store.address);
  const directory = blobDirectory(settings, dataDir);
  return directoryPlace(directory, `${directory} on ${hostname()}`);
}

/** Describes a bucket without calling it, as it may be unavailable at startup. */
export const bucketPlace = (address: string): BlobPlace => ({
  kind: "bucket",
  id: address,
  shown: address,
  in_use: false,
});

function prober(store: FileBlobStore | S3BlobStore, place: BlobPlace, settings: BlobSettings, dataDir: string) {
  if (store instanceof S3BlobStore) return () => store.probe();
  const directory = blobDirectory(settings, dataDir);
  return async () => {
    if ((await readPlaceId(directory)) === place.id) return;
    throw new Error(`${directory} is not the directory of attachments any more. Is its file system mounted?`);
  };
}

function explain(known: BlobPlace, isAlive: boolean, wanted: BlobPlace): string {
  const where = `Attachments of this database are kept in ${known.shown}, and this process would keep them in ${wanted.shown}.`;
  const share =
    "Several trace processes need one place: set HEDDLE_BLOB_BUCKET, or HEDDLE_BLOB_DIRECTORY on a shared file system, " +
    "to the same for all of them.";
  if (isAlive) return `${where} Another trace process is using it. ${share}`;
  const move =
    wanted.kind === "bucket" && known.kind === "directory"
      ? "Bring them there first: heddle blobs move, where the directory is."
      : "Give this process that place, or a copy of all of it. If what was there is lost or was copied here by other " +
        "means: heddle blobs adopt.";
  return `${where} ${move} ${share}`;
}
