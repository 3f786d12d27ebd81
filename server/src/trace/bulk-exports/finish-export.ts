/**
 * Verifies an export, then completes it. It becomes COMPLETED only if the bucket matches the query: each day's files
 * add up to the day's ids, and each object has the size that was sent. `_SUCCESS` is written after the manifest and
 * before the status; an export that does not reach COMPLETED has `_SUCCESS` removed, here or in clean-up.ts.
 */
import { setMaxListeners } from "node:events";

import type { Bucket } from "../../base/blob/bucket.ts";
import { StorageError } from "../../base/blob/s3-error.ts";
import { withBucket } from "../export-destinations/bucket.ts";
import { orderedFields, SCHEMA_VERSION } from "./columns.ts";
import { type Attempt, ExportError, LostExportError } from "./attempt.ts";
import * as files from "./files-sql.ts";
import { exportPath, MANIFEST, SUCCESS } from "./paths.ts";
import { endExport, sealExport, selectStatus } from "./queue-sql.ts";

interface ManifestFile {
  /** Full key, without the bucket. */
  key: string;
  rows: number;
  bytes: number;
  sha256: string;
  min_start_time: string;
  max_start_time: string;
}

interface Manifest {
  export_id: string;
  tenant_id: string;
  session_id: string;
  start_time: string;
  end_time: string;
  filter: string | null;
  format: "Parquet";
  format_version: string;
  schema_version: number;
  compression: string;
  fields: string[];
  /** Time of the snapshot, and its number of ids. */
  snapshot_at: string;
  query_count: number;
  /** Ids deleted before they were written. */
  deleted_count: number;
  rows: number;
  bytes: number;
  /** False where the bucket denies reading objects back. */
  sizes_read_back: boolean;
  path: string;
  files: ManifestFile[];
}

const PAGE = 1000;
/** Concurrent HEAD requests; latency of a remote store dominates. */
const HEADS_AT_ONCE = 16;
/** Listeners on the attempt's signal, one per concurrent call. Node warns above this, which would indicate a leak. */
const LISTENERS = HEADS_AT_ONCE + 10;

export async function finishExport(attempt: Attempt): Promise<void> {
  const { deps, claimed, signal, credentials } = attempt;
  const { sql, faultPoint } = deps;
  setMaxListeners(LISTENERS, signal);
  const uneven = await files.unevenRuns(sql, claimed.id);
  if (uneven.length > 0) {
    const days = uneven.map(({ start_time, expected, found }) => `${start_time}: ${found} of ${expected}`);
    throw new ExportError(`The files do not contain all rows of the query. ${days.join("; ")}`);
  }
  const { bucket, config } = await credentials.open(null);
  const success = exportPath(config, claimed.id, SUCCESS);
  try {
    const manifest = await makeManifest(attempt, bucket, withBucket(config, exportPath(config, claimed.id)));
    if (manifest.rows + manifest.deleted_count !== manifest.query_count) {
      throw new ExportError(`The files contain ${manifest.rows} rows, but the query returned ${manifest.query_count}.`);
    }
    signal.throwIfAborted();
    if (!(await sealExport(sql, claimed))) throw new LostExportError();
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    const key = exportPath(config, claimed.id, MANIFEST);
    await bucket.put(key, Buffer.from(text), { contentType: "application/json", signal });
    faultPoint("export-after-manifest");
    let isCompleted = false;
    try {
      await bucket.put(success, Buffer.alloc(0), { contentType: "text/plain", signal });
      faultPoint("export-after-success");
      isCompleted = await endExport(sql, claimed, "COMPLETED", null);
      faultPoint("export-after-completed");
    } finally {
      // also if the write's outcome is unknown; if another attempt owns the export, the object is that attempt's
      if (!isCompleted && (await selectStatus(sql, claimed).catch(() => undefined)) === "RUNNING") {
        await bucket.delete(success).catch(() => {});
      }
    }
  } finally {
    bucket.close();
  }
}

async function makeManifest({ deps, claimed, signal }: Attempt, bucket: Bucket, path: string): Promise<Manifest> {
  const manifest: Manifest = {
    export_id: claimed.id,
    tenant_id: claimed.tenant_id,
    session_id: claimed.session_id,
    start_time: claimed.start_time,
    end_time: claimed.end_time,
    filter: claimed.filter,
    format: "Parquet",
    format_version: claimed.format_version,
    schema_version: SCHEMA_VERSION,
    compression: claimed.compression,
    fields: orderedFields(claimed.export_fields),
    snapshot_at: new Date(claimed.snapshot_at!).toISOString(),
    query_count: Number(claimed.row_count),
    deleted_count: 0,
    rows: 0,
    bytes: 0,
    sizes_read_back: true,
    path,
    files: [],
  };
  let after: { start_time: string; n: number } | null = null;
  for (;;) {
    const page: Awaited<ReturnType<typeof files.selectFiles>> = await files.selectFiles(
      deps.sql,
      claimed.id,
      after,
      PAGE,
    );
    if (manifest.sizes_read_back) manifest.sizes_read_back = await readAllBack(bucket, page, signal);
    for (const file of page) {
      manifest.deleted_count += file.deleted_count;
      if (file.key === null) continue;
      manifest.rows += file.row_count;
      manifest.bytes += file.byte_count;
      manifest.files.push({
        key: file.key,
        rows: file.row_count,
        bytes: file.byte_count,
        sha256: file.sha256!,
        min_start_time: file.min_start_time,
        max_start_time: file.max_start_time,
      });
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return manifest;
    after = { start_time: last.run_start_time, n: last.n };
  }
}

/**
 * Compares the size of each object with the recorded one. @returns false when reading is denied; no further requests
 * are made then
 */
async function readAllBack(bucket: Bucket, page: readonly files.ExportedFile[], signal: AbortSignal): Promise<boolean> {
  for (let i = 0; i < page.length; i += HEADS_AT_ONCE) {
    signal.throwIfAborted();
    const some = page.slice(i, i + HEADS_AT_ONCE);
    const allowed = await Promise.all(
      some.map(async ({ key, byte_count }) => key === null || (await readBack(bucket, key, byte_count, signal))),
    );
    if (!allowed.every(Boolean)) return false;
  }
  return true;
}

async function readBack(bucket: Bucket, key: string, bytes: number, signal: AbortSignal): Promise<boolean> {
  let found: { size: number } | undefined;
  try {
    found = await bucket.head(key, signal);
  } catch (error) {
    if (error instanceof StorageError && error.reason === "access_denied") return false;
    throw error;
  }
  if (found?.size === bytes) return true;
  const state = found ? `has ${found.size} bytes` : "is missing";
  throw new ExportError(`${key} ${state}; ${bytes} bytes were written.`);
}
