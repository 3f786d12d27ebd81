/**
 * Cleans up after an export that has ended in any way: aborts unfinished multipart uploads, and drops its snapshot and
 * the credentials of its runs.
 */
import type { ExportDestination } from "../export-destinations/bucket.ts";
import { dropSnapshot } from "./clickhouse.ts";
import type { Attempt } from "./attempt.ts";
import * as files from "./files-sql.ts";
import { dayPath, exportPath, fileName, SUCCESS } from "./paths.ts";
import { markCleaned, releaseExport } from "./queue-sql.ts";
import { forgetCredentials } from "./run-credentials.ts";
import { withoutRejection } from "./without-rejection.ts";

/** Retries before giving up. After that the store keeps the unfinished uploads; its lifecycle rules may remove them. */
const MOST_TRIES = 20;
const PAUSE_MS = 5_000;

export async function cleanUp(attempt: Attempt): Promise<void> {
  const { deps, claimed } = attempt;
  try {
    if (claimed.snapshot_id !== null) {
      await abortUploads(attempt);
      await dropSnapshot(deps.clickhouse, claimed.snapshot_id);
    }
    await markCleaned(deps.sql, claimed);
  } catch (error) {
    const failures = claimed.failures + 1;
    deps.log.warn({ err: error, export: claimed.id }, "could not clean up after a finished export");
    if (failures >= MOST_TRIES) await markCleaned(deps.sql, claimed);
    else await releaseExport(deps.sql, claimed, { pauseMs: PAUSE_MS * failures, failures });
  }
}

async function abortUploads({ deps, claimed, credentials }: Attempt): Promise<void> {
  const uploads = await files.selectUploads(deps.sql, claimed.id);
  const runs = claimed.status === "COMPLETED" ? [] : await files.runsInBetween(deps.sql, claimed.id);
  const fileKey = (config: ExportDestination["config"], start_time: string, n: number) =>
    dayPath(config, { ...claimed, export_id: claimed.id, start_time }, fileName(n));
  for (const runId of new Set([...uploads.map((upload) => upload.run_id), ...runs.map((run) => run.id)])) {
    const { bucket, config } = await credentials.open(runId);
    for (const upload of uploads.filter((upload) => upload.run_id === runId)) {
      await withoutRejection(() => bucket.abortUpload(upload.key, upload.upload_id));
      await files.deleteUpload(deps.sql, upload);
    }
    // uploads that began but were not recorded
    for (const { start_time, files: n } of runs.filter((run) => run.id === runId)) {
      for (const next of [n + 1, n + 2])
        await withoutRejection(() => bucket.abortUploads(fileKey(config, start_time, next)));
    }
    await forgetCredentials(deps.secrets, runId);
  }
  if (claimed.status === "COMPLETED") return;
  // left if the process was killed between writing _SUCCESS and the status, and the export then timed out
  const { bucket, config } = await credentials.open(null);
  await withoutRejection(() => bucket.delete(exportPath(config, claimed.id, SUCCESS)));
}
