/**
 * A day of an export: slices of the snapshot, each a file. While one file is uploaded the engine writes the next, so
 * there are at most two on the disk, and memory holds a few parts of an upload and a few row groups.
 */
import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

import type { Bucket } from "../../base/blob/bucket.ts";
import { feedbackStats } from "../feedback/stats.ts";
import {
  type Cursor,
  countSlice,
  insertFeedbackStats,
  nextSlice,
  rowWeight,
  runsWithFeedback,
  selectSlice,
  type Slice,
} from "./clickhouse.ts";
import { needs, orderedFields } from "./columns.ts";
import { type Attempt, microTime, NotOursError } from "./attempt.ts";
import * as files from "./files-sql.ts";
import { dayPath, fileName } from "./paths.ts";
import { projectTier } from "./project-tier.ts";
import { withoutRefusal } from "./without-refusal.ts";
import { writeParquet } from "./write-parquet.ts";

interface Written {
  n: number;
  path: string;
  slice: Slice;
  rows: number;
  bytes: number;
}

export async function exportDay(attempt: Attempt, run: files.RunToDo): Promise<void> {
  const { deps, held, signal } = attempt;
  const { bucket, config } = await attempt.credentials.open(run.id);
  const last = await files.lastFile(deps.sql, run.id);
  let n = (last?.n ?? 0) + 1;
  let after: Cursor | null = last ? { start_time: last.last_start_time, id: last.last_id } : null;
  const keyOf = (number: number) =>
    dayPath(config, { ...held, export_id: held.id, start_time: run.start_time }, fileName(number));
  await endOldUploads(attempt, bucket, run, [keyOf(n), keyOf(n + 1)]);

  const tier = await projectTier(deps, held);
  const window = { since: microTime(run.start_time), before: microTime(run.end_time) };
  let bytesPerRow = last && last.row_count > 0 ? last.byte_count / last.row_count : undefined;
  let uploading: Promise<void> | undefined;
  try {
    for (;;) {
      signal.throwIfAborted();
      const limit = await rowsAFile(attempt, window, after, bytesPerRow);
      const slice = await nextSlice(deps.clickhouse, held.snapshot_id!, window, after, limit);
      if (!slice) break;
      const written = await writeSlice(attempt, slice, n, tier);
      deps.faultPoint("export-after-write");
      if (written.rows > 0) bytesPerRow = written.bytes / written.rows;
      // in order, so that what is recorded is always the beginning of the day
      await uploading;
      uploading = uploadFile(attempt, bucket, run, keyOf(n), written);
      // an error is thrown where it is awaited
      uploading.catch(() => {});
      after = slice.end;
      n++;
    }
    await uploading;
  } finally {
    // nothing of this attempt may still be writing when another begins
    await uploading?.catch(() => {});
    bucket.close();
  }
}

/** Of attempts that were killed; what storage does not let us abort stays for its own rules. */
async function endOldUploads({ deps, held }: Attempt, bucket: Bucket, run: files.RunToDo, keys: string[]) {
  if (held.attempt === 1) return;
  for (const upload of await files.uploadsOf(deps.sql, held.id)) {
    if (upload.run_id !== run.id) continue;
    await withoutRefusal(() => bucket.abortUpload(upload.key, upload.upload_id));
    await files.deleteUpload(deps.sql, upload);
  }
  // killed between the store's answer and our note of it
  for (const key of keys) await withoutRefusal(() => bucket.abortUploads(key));
}

/** Texts shrink to a third or less; where they do not, the next file knows better. */
const GUESSED_COMPRESSION = 3;

async function rowsAFile(
  { deps, held, scope }: Attempt,
  window: { since: string; before: string },
  after: Cursor | null,
  bytesPerRow: number | undefined,
): Promise<number> {
  const { exportFileMb, exportFileRows } = deps.settings;
  let weight = bytesPerRow;
  if (weight === undefined) {
    const first = await nextSlice(deps.clickhouse, held.snapshot_id!, window, after, 1000);
    // no more than a file may have anyway: nothing to weigh
    if (!first || first.rows < 1000) return exportFileRows;
    weight = (await rowWeight(deps.clickhouse, scope, held.session_id, first)) / GUESSED_COMPRESSION;
  }
  return Math.max(1, Math.min(exportFileRows, Math.floor((exportFileMb * 1e6) / weight)));
}

async function writeSlice(attempt: Attempt, slice: Slice, n: number, tier: string): Promise<Written> {
  const { deps, held, scope, directory } = attempt;
  const { clickhouse, sql } = deps;
  const fields = orderedFields(held.export_fields);
  let withFeedback = false;
  if (needs(fields, "feedback")) {
    const ids = await runsWithFeedback(clickhouse, held.tenant_id, slice);
    for (let i = 0; i < ids.length; i += 5000) {
      const stats = await feedbackStats(sql, held.tenant_id, "runs", ids.slice(i, i + 5000));
      await insertFeedbackStats(clickhouse, slice.snapshotId, stats);
    }
    withFeedback = ids.length > 0;
  }
  const path = join(directory, fileName(n));
  const context = { version: held.format_version, tenantId: held.tenant_id, tier, withFeedback };
  const statement = selectSlice(scope, held.session_id, slice, fields, context);
  const { rows, bytes } = await writeParquet(clickhouse, statement, path, held.compression);
  if (rows > slice.rows) throw new Error(`a slice of ${slice.rows} ids gave ${rows} rows`);
  if (rows < slice.rows) {
    // ids that are missing must be gone; deletions go on while we count, so there may be fewer still, never more
    const left = await countSlice(clickhouse, scope, held.session_id, slice);
    if (left > rows) throw new Error(`a slice has ${left} runs, of which ${rows} were written`);
  }
  return { n, path, slice, rows, bytes };
}

async function uploadFile(
  { deps, held, signal }: Attempt,
  bucket: Bucket,
  run: files.RunToDo,
  key: string,
  { n, path, slice, rows, bytes }: Written,
): Promise<void> {
  const { sql, faultPoint } = deps;
  let sha256: string | null = null;
  if (rows > 0) {
    const content = createReadStream(path, { highWaterMark: 1024 * 1024 });
    const stored = await bucket.upload(key, content, {
      contentType: "application/vnd.apache.parquet",
      size: bytes,
      signal,
      async onStart(uploadId) {
        faultPoint("export-upload-begun");
        await files.insertUpload(sql, run.id, key, uploadId);
        faultPoint("export-upload-noted");
      },
    });
    sha256 = stored.sha256;
    faultPoint("export-after-upload");
  }
  const recorded = await files.insertFile(sql, held, run.id, {
    n,
    key: rows > 0 ? key : null,
    row_count: rows,
    deleted_count: slice.rows - rows,
    byte_count: rows > 0 ? bytes : 0,
    sha256,
    min_start_time: `${slice.first.replace(" ", "T")}Z`,
    max_start_time: `${slice.end.start_time.replace(" ", "T")}Z`,
    last_start_time: slice.end.start_time,
    last_id: slice.end.id,
  });
  await rm(path, { force: true });
  if (!recorded) throw new NotOursError();
  faultPoint("export-after-file");
}
