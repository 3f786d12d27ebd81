/**
 * Plans the files of an export: which slice of the snapshot each one holds. A day continues after its last recorded
 * file. Slices are sized so that a file has `exportFileMb`, estimated from the previous file.
 */
import { feedbackStats } from "../feedback/stats.ts";
import { findTiers } from "../projects/sql.ts";
import { type Attempt, microTime } from "./attempt.ts";
import { type Cursor, insertFeedbackStats, nextSlice, rowWeight, runsWithFeedback, type Slice } from "./clickhouse.ts";
import { needs, orderedFields } from "./columns.ts";
import * as files from "./files-sql.ts";
import { attributeToRun } from "./run-failure.ts";

/** Slice with the data needed before writing it. */
export interface WeighedSlice {
  slice: Slice;
  /** Uncompressed bytes per row. */
  rowBytes: number;
  withFeedback: boolean;
}

/** The next file of an export. */
export interface PlannedFile {
  run: files.PendingExportRun;
  /** Number of the file within its day, from which its name is derived. */
  n: number;
  tier: string;
  /** Compressed bytes per row of the previous file, if known. */
  bytesPerRow: number | undefined;
  /** Rows that were requested for the slice. */
  targetRows: number;
  /** Undefined: every file of the day is already recorded. */
  content: WeighedSlice | undefined;
}

/** Estimated compression ratio: texts shrink to a third or less. Later files use the measured ratio. */
const GUESSED_COMPRESSION = 3;

/** Plans the first file of the first day after `after`; undefined when there is none. */
export async function planDay(
  attempt: Attempt,
  after: string | null,
  expected?: number,
): Promise<PlannedFile | undefined> {
  const run = await files.nextRun(attempt.deps.sql, attempt.claimed.id, after);
  return run && attributeToRun(run.id, planFirstFile(attempt, run, expected));
}

/** Plans the file after `planned`: the next one of its day, or the first one of the next day. */
export async function planNext(attempt: Attempt, planned: PlannedFile): Promise<PlannedFile | undefined> {
  const { run, content, bytesPerRow } = planned;
  if (content) {
    const targetRows = rowsPerFile(attempt, estimateBytes(planned.bytesPerRow, content));
    const slice = await attributeToRun(run.id, cut(attempt, run, content.slice.end, targetRows));
    if (slice) {
      const next = await attributeToRun(run.id, weigh(attempt, slice));
      return { ...planned, n: planned.n + 1, targetRows, content: next };
    }
  }
  return planDay(attempt, run.start_time, bytesPerRow);
}

/**
 * Adjusts the file planned after `previous`, now that the previous one's compression is known. Cuts its slice again if
 * it differs by more than a quarter from the wanted size.
 */
export async function adjust(
  attempt: Attempt,
  next: PlannedFile,
  previous: PlannedFile,
  bytesPerRow: number | undefined,
): Promise<PlannedFile> {
  if (next.run !== previous.run || !next.content || !previous.content) return next;
  const { slice, rowBytes } = next.content;
  const { rowBytes: previousRowBytes } = previous.content;
  const targetRows = rowsPerFile(attempt, (estimateBytes(bytesPerRow, previous.content) * rowBytes) / previousRowBytes);
  const isFarOff = slice.rows > targetRows * 1.25 || (slice.rows === next.targetRows && slice.rows < targetRows * 0.75);
  if (!isFarOff) return { ...next, bytesPerRow };
  const recut = (await cut(attempt, next.run, previous.content.slice.end, targetRows))!;
  // measurements hold for a shorter slice too; a longer one may have feedback where the first had none
  const withFeedback = recut.rows <= slice.rows ? next.content.withFeedback : await gatherFeedback(attempt, recut);
  return { ...next, bytesPerRow, targetRows, content: { slice: recut, rowBytes, withFeedback } };
}

async function planFirstFile(attempt: Attempt, run: files.PendingExportRun, expected?: number): Promise<PlannedFile> {
  const { deps, claimed } = attempt;
  const last = await files.lastFile(deps.sql, run.id);
  const tier = await projectTier(attempt);
  const bytesPerRow = last && last.row_count > 0 ? last.byte_count / last.row_count : expected;
  const after = last ? { start_time: last.last_start_time, id: last.last_id } : null;
  const max = bytesPerRow === undefined ? deps.settings.exportFileRows : rowsPerFile(attempt, bytesPerRow);
  const planned = { run, n: (last?.n ?? 0) + 1, tier, bytesPerRow };
  let slice = await cut(attempt, run, after, max);
  if (!slice) return { ...planned, targetRows: max, content: undefined };
  const rowBytes = await rowWeight(deps.clickhouse, attempt.scope, claimed.session_id, slice);
  const targetRows = rowsPerFile(attempt, estimateBytes(bytesPerRow, { rowBytes }));
  if (slice.rows > targetRows) slice = (await cut(attempt, run, after, targetRows))!;
  return { ...planned, targetRows, content: { slice, rowBytes, withFeedback: await gatherFeedback(attempt, slice) } };
}

/** Cuts the day's next slice, of at most `rows` rows. Undefined at the end of the day. */
function cut(
  attempt: Attempt,
  run: files.PendingExportRun,
  after: Cursor | null,
  rows: number,
): Promise<Slice | undefined> {
  attempt.signal.throwIfAborted();
  const window = { since: microTime(run.start_time), before: microTime(run.end_time) };
  return nextSlice(attempt.deps.clickhouse, attempt.claimed.snapshot_id!, window, after, rows);
}

async function weigh(attempt: Attempt, slice: Slice): Promise<WeighedSlice> {
  const { deps, claimed, scope } = attempt;
  const rowBytes = await rowWeight(deps.clickhouse, scope, claimed.session_id, slice);
  return { slice, rowBytes, withFeedback: await gatherFeedback(attempt, slice) };
}

const estimateBytes = (bytesPerRow: number | undefined, { rowBytes }: { rowBytes: number }): number =>
  bytesPerRow ?? rowBytes / GUESSED_COMPRESSION;

const rowsPerFile = ({ deps: { settings } }: Attempt, bytesPerRow: number): number =>
  Math.max(1, Math.min(settings.exportFileRows, Math.floor((settings.exportFileMb * 1e6) / bytesPerRow)));

/** Copies the slice's feedback statistics to where the statement reads them. @returns whether there are any */
async function gatherFeedback({ deps, claimed }: Attempt, slice: Slice): Promise<boolean> {
  const { clickhouse, sql } = deps;
  if (!needs(orderedFields(claimed.export_fields), "feedback")) return false;
  const ids = await runsWithFeedback(clickhouse, claimed.tenant_id, slice);
  for (let i = 0; i < ids.length; i += 5000) {
    const stats = await feedbackStats(sql, claimed.tenant_id, "runs", ids.slice(i, i + 5000));
    await insertFeedbackStats(clickhouse, slice.snapshotId, stats);
  }
  return ids.length > 0;
}

/** Returns the tier of the project's runs that have none themselves. */
async function projectTier({ deps: { sql, settings }, claimed }: Attempt): Promise<string> {
  const tiers = await findTiers(sql, claimed.tenant_id, [claimed.session_id]);
  return tiers.get(claimed.session_id)?.trace_tier ?? settings.traceTier;
}
