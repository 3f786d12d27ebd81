import { rm } from "node:fs/promises";

import { readChunks } from "../../base/blob/read-chunks.ts";
import { type Attempt, LostExportError } from "./attempt.ts";
import * as files from "./files-sql.ts";
import { dayPath, fileName } from "./paths.ts";
import { withoutRejection } from "./without-rejection.ts";
import type { WrittenFile } from "./write-file.ts";

/** A run, and the bucket opened with the credentials it began with. */
export interface OpenRun extends Awaited<ReturnType<Attempt["credentials"]["open"]>> {
  run: files.PendingExportRun;
}

/** Uploads a file, records it, and deletes the local copy. A file without rows is recorded only. */
export async function uploadFile(attempt: Attempt, open: OpenRun, file: WrittenFile): Promise<void> {
  const { deps, claimed, signal } = attempt;
  const { sql, faultPoint } = deps;
  const { run, bucket } = open;
  const { n, path, slice, rows, bytes } = file;
  const key = fileKey(attempt, open, n);
  let sha256: string | null = null;
  if (rows > 0) {
    const stored = await bucket.upload(key, readChunks(path), {
      contentType: "application/vnd.apache.parquet",
      size: bytes,
      signal,
      // fencing in the store: no file of this attempt can appear after another attempt has begun
      alwaysInParts: true,
      async onStart(uploadId) {
        faultPoint("export-upload-begun");
        if (!(await files.insertUpload(sql, claimed, { run_id: run.id, key, upload_id: uploadId }))) {
          throw new LostExportError();
        }
        faultPoint("export-upload-noted");
      },
    });
    sha256 = stored.sha256;
    faultPoint("export-after-upload");
  }
  const recorded = await files.insertFile(sql, claimed, run.id, {
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
  if (!recorded) throw new LostExportError();
  faultPoint("export-after-file");
}

/** Aborts uploads of killed attempts. Those that the store does not allow to abort are left to its lifecycle rules. */
export async function abortOldUploads(attempt: Attempt, open: OpenRun): Promise<void> {
  const { deps, claimed } = attempt;
  if (claimed.attempt === 1) return;
  const { run, bucket } = open;
  for (const upload of await files.selectUploads(deps.sql, claimed.id)) {
    if (upload.run_id !== run.id) continue;
    await withoutRejection(() => bucket.abortUpload(upload.key, upload.upload_id));
    await files.deleteUpload(deps.sql, upload);
  }
  // the process may have been killed between the store's response and the record of it
  const n = (await files.lastFile(deps.sql, run.id))?.n ?? 0;
  await withoutRejection(() => bucket.abortUploads(fileKey(attempt, open, n + 1)));
}

const fileKey = ({ claimed }: Attempt, { config, run }: OpenRun, n: number): string =>
  dayPath(config, { ...claimed, export_id: claimed.id, start_time: run.start_time }, fileName(n));
