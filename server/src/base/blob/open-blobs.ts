import { hostname } from "node:os";
import { join, resolve } from "node:path";

import { ConfigError } from "../config/options.ts";
import type { Sql } from "../db/connect.ts";
import { uuid7 } from "../ids.ts";
import type { Log } from "../log.ts";
import {
  type BlobLocation,
  claimLocation,
  directoryLocation,
  holdsBlobs,
  readLocationId,
  selectLocation,
} from "./blob-location.ts";
import { FileBlobStore } from "./blob-store.ts";
import { RecordedBlobStore } from "./recorded-blob-store.ts";
import { S3BlobStore } from "./s3-blob-store.ts";
import { type BlobSettings, readBucket } from "./settings.ts";

export interface OpenBlobsOptions {
  sql: Sql;
  log: Log;
  dataDir: string;
  settings: BlobSettings;
}

export interface OpenedBlobs {
  blobs: RecordedBlobStore;
  stop(): Promise<void>;
}

export const blobDirectory = (settings: BlobSettings, dataDir: string): string =>
  resolve(settings.blobDirectory ?? join(dataDir, "blobs"));

/** Opens the configured store of blobs. @throws ConfigError when the database has another location recorded */
export async function openBlobs({ sql, log, dataDir, settings }: OpenBlobsOptions): Promise<OpenedBlobs> {
  const bucket = readBucket(settings);
  const store = bucket ? await S3BlobStore.open(bucket) : new FileBlobStore(blobDirectory(settings, dataDir));
  const close = () => store instanceof S3BlobStore && store.close();
  const processId = uuid7();
  try {
    const location = await describe(store, settings, dataDir);
    const directory = blobDirectory(settings, dataDir);
    // blobs of a version that recorded no location
    if (bucket && !(await selectLocation(sql)) && (await holdsBlobs(directory))) {
      throw new ConfigError(
        `There are attachments in ${directory}. Move them to ${location.shown} first: heddle blobs move.`,
      );
    }
    const rejection = await claimLocation(sql, location, processId);
    if (rejection) throw new ConfigError(explain(rejection.location, rejection.isAlive, location));
    const blobs = new RecordedBlobStore({
      sql,
      log,
      store,
      location,
      processId,
      probe: prober(store, location, settings, dataDir),
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
  if (store instanceof S3BlobStore) return bucketLocation(store.address);
  const directory = blobDirectory(settings, dataDir);
  return directoryLocation(directory, `${directory} on ${hostname()}`);
}

/** Describes a bucket without calling it, as it may be unavailable at startup. */
export const bucketLocation = (address: string): BlobLocation => ({
  kind: "bucket",
  id: address,
  shown: address,
  in_use: false,
});

function prober(store: FileBlobStore | S3BlobStore, location: BlobLocation, settings: BlobSettings, dataDir: string) {
  if (store instanceof S3BlobStore) return () => store.probe();
  const directory = blobDirectory(settings, dataDir);
  return async () => {
    if ((await readLocationId(directory)) === location.id) return;
    throw new Error(`${directory} is no longer the attachments directory. Check that its file system is mounted.`);
  };
}

function explain(known: BlobLocation, isAlive: boolean, configured: BlobLocation): string {
  const where =
    `This database's attachments are stored in ${known.shown}, but this process is configured to store them in ` +
    `${configured.shown}.`;
  const share =
    "All trace processes must use the same location: set HEDDLE_BLOB_BUCKET, or HEDDLE_BLOB_DIRECTORY on a shared " +
    "file system, to the same value for each.";
  if (isAlive) return `${where} Another trace process is using it. ${share}`;
  const move =
    configured.kind === "bucket" && known.kind === "directory"
      ? "Move them first: run heddle blobs move on the directory's host."
      : "Configure this process with that location. If its files were lost, or were copied here by other means, run " +
        "heddle blobs adopt.";
  return `${where} ${move} ${share}`;
}
