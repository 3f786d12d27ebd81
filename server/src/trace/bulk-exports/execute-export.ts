/**
 * One attempt at an export, by the process that holds its lease:
 *
 *     snapshot of the query's ids ──▶ day ──▶ day ──▶ … ──▶ manifest, _SUCCESS ──▶ COMPLETED
 *
 * Each step is recorded before the next begins, so the next attempt resumes where this one ended. A failure is recorded
 * and retried later by another attempt; a permanent failure, or too many, ends the export.
 */
import { loadS3 } from "../../base/blob/s3-client.ts";
import { StorageError } from "../../base/blob/s3-error.ts";
import { uuid7 } from "../../base/ids.ts";
import { FilterError } from "../filter/filter-error.ts";
import { readFilter } from "../filter/read-filter.ts";
import { loadScope } from "../runs/load-scope.ts";
import type { RunSelection } from "../runs/selection.ts";
import { type Attempt, ExportError, microTime, LostExportError } from "./attempt.ts";
import { countByDay, insertSnapshot } from "./clickhouse.ts";
import { exportDays } from "./export-days.ts";
import * as files from "./files-sql.ts";
import { finishExport } from "./finish-export.ts";
import * as queue from "./queue-sql.ts";
import { RunFailure } from "./run-failure.ts";
import { endRuns } from "./sql.ts";

/** Runs until the export ends or has to wait. Failures are recorded on the export, never thrown. */
export async function executeExport(attempt: Attempt): Promise<void> {
  const { claimed, signal } = attempt;
  // preloads while the engine works; a failure is thrown where the module is needed
  loadS3().catch(() => {});
  try {
    if (claimed.snapshot_id === null) await takeSnapshot(attempt);
    await exportDays(attempt);
    signal.throwIfAborted();
    await finishExport(attempt);
  } catch (error) {
    if (signal.aborted || error instanceof LostExportError) return;
    if (error instanceof RunFailure) await noteFailure(attempt, error.runId, error.cause);
    else await noteFailure(attempt, undefined, error);
  }
}

async function takeSnapshot({ deps, claimed, scope }: Attempt): Promise<void> {
  const { sql, clickhouse, faultPoint } = deps;
  const id = uuid7();
  const at = new Date();
  const selection: RunSelection = {
    projects: [claimed.session_id],
    since: microTime(claimed.start_time),
    before: microTime(claimed.end_time),
    filters: claimed.filter === null ? [] : [readFilter(claimed.filter)],
  };
  await insertSnapshot(clickhouse, id, await loadScope(deps, scope, selection), selection);
  const days = await countByDay(clickhouse, id);
  faultPoint("export-after-snapshot");
  const rows = Object.values(days).reduce((sum, n) => sum + n, 0);
  await sql.begin(async (tx) => {
    if (!(await queue.recordSnapshot(tx, claimed, { id, at, rows }))) throw new LostExportError();
    await files.recordDays(tx, claimed.id, days);
  });
  claimed.snapshot_id = id;
  claimed.snapshot_at = at.toISOString();
  claimed.row_count = String(rows);
}

async function noteFailure(attempt: Attempt, runId: string | undefined, error: unknown): Promise<void> {
  const { deps, claimed } = attempt;
  const { sql, log, settings } = deps;
  const message = describe(error);
  log.warn({ err: error, export: claimed.id, run: runId }, "an export failed; will retry if the error is transient");
  const retries = runId === undefined ? claimed.failures + 1 : await files.noteFailure(sql, claimed, runId, message);
  if (canHeal(error) && retries <= settings.exportRetries) {
    const pauseMs = Math.min(300_000, settings.exportRetryMs * 2 ** Math.min(retries - 1, 20));
    const failures = runId === undefined ? retries : undefined;
    await queue.releaseExport(sql, claimed, { pauseMs, error: message, ...(failures !== undefined && { failures }) });
    return;
  }
  await sql.begin(async (tx) => {
    if (!(await queue.endExport(tx, claimed, "FAILED", message))) return;
    if (runId !== undefined) await files.failRun(tx, runId);
    await endRuns(tx, claimed.id, "CANCELLED");
  });
}

function canHeal(error: unknown): boolean {
  if (error instanceof StorageError) return error.canHeal;
  return !(error instanceof FilterError);
}

/**
 * Returns a message for the export's owner. Storage errors are written for users; other messages may expose internals.
 */
function describe(error: unknown): string {
  if (error instanceof StorageError || error instanceof FilterError || error instanceof ExportError) {
    return error.message;
  }
  return "Internal error; see the server's log.";
}
