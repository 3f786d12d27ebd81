/** Writes a day's rows to local files, slice by slice of the snapshot, starting after the last recorded file. */
import { join } from "node:path";

import { feedbackStats } from "../feedback/stats.ts";
import { findTiers } from "../projects/sql.ts";
import { type Attempt, type ExportDeps, microTime } from "./attempt.ts";
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
import * as files from "./files-sql.ts";
import { fileName } from "./paths.ts";
import { writeParquet } from "./write-parquet.ts";

export interface Written {
  /** Number of the file, from which its name is derived. */
  n: number;
  path: string;
  slice: Slice;
  rows: number;
  bytes: number;
  /** Whether this is the day's last file. */
  isLast: boolean;
}

/** Slice with the data needed before writing it. */
interface Weighed {
  slice: Slice;
  rowBytes: number;
  withFeedback: boolean;
}

/** A day, its resume position, and its first slice; prepared while the previous day is still being written. */
export interface DayBegun {
  run: files.RunToDo;
  /** Number of files already recorded. */
  written: number;
  tier: string;
  bytesPerRow: number | undefined;
  /** Undefined: all files are recorded. */
  weighed: Weighed | undefined;
}

/** Estimated compression ratio: texts shrink to a third or less. Later files use the measured ratio. */
const GUESSED_COMPRESSION = 3;

/** Prepares a day and its first slice. @param expected bytes per row in the files of the previous day */
export async function beginDay(attempt: Attempt, run: files.RunToDo, expected?: number): Promise<DayBegun> {
  const { deps, held } = attempt;
  const last = await files.lastFile(deps.sql, run.id);
  const tier = await projectTier(deps, held);
  const bytesPerRow = last && last.row_count > 0 ? last.byte_count / last.row_count : expected;
  const begin = last ? { start_time: last.last_start_time, id: last.last_id } : null;
  const rows = bytesPerRow === undefined ? deps.settings.exportFileRows : rowsIn(attempt, bytesPerRow);
  let slice = await cut(attempt, run, begin, rows);
  if (!slice) return { run, written: last?.n ?? 0, tier, bytesPerRow, weighed: undefined };
  const rowBytes = await rowWeight(deps.clickhouse, attempt.scope, held.session_id, slice);
  const wanted = rowsIn(attempt, bytesPerRow ?? rowBytes / GUESSED_COMPRESSION);
  if (slice.rows > wanted) slice = (await cut(attempt, run, begin, wanted))!;
  const weighed = { slice, rowBytes, withFeedback: await gatherFeedback(attempt, slice) };
  return { run, written: last?.n ?? 0, tier, bytesPerRow, weighed };
}

/**
 * Writes a day's files. While a slice is written, the next one is cut, weighed and gets its feedback: each uses one
 * core.
 *
 * @param onLast called while the day's last file is written, with the bytes per row if known
 * @yields each file; nothing if all of them are recorded already
 */
export async function* writeDay(
  attempt: Attempt,
  { run, written: recorded, tier, ...begun }: DayBegun,
  onLast: (bytesPerRow: number | undefined) => void,
): AsyncGenerator<Written, undefined> {
  const { deps, held, scope } = attempt;
  let { weighed, bytesPerRow } = begun;
  const following = async (after: Cursor, rows: number): Promise<Weighed | undefined> => {
    const slice = await cut(attempt, run, after, rows);
    if (!slice) {
      onLast(bytesPerRow);
      return undefined;
    }
    const rowBytes = await rowWeight(deps.clickhouse, scope, held.session_id, slice);
    return { slice, rowBytes, withFeedback: await gatherFeedback(attempt, slice) };
  };
  for (let n = recorded + 1; weighed; n++) {
    const { slice, rowBytes }: Weighed = weighed;
    const asked = rowsIn(attempt, bytesPerRow ?? rowBytes / GUESSED_COMPRESSION);
    const ahead = following(slice.end, asked);
    // rejections are thrown where `ahead` is awaited
    ahead.catch(() => {});
    let written;
    try {
      written = await writeSlice(attempt, weighed, n, tier);
    } finally {
      weighed = await ahead;
    }
    deps.faultPoint("export-after-write");
    if (written.rows > 0) bytesPerRow = written.bytes / written.rows;
    if (weighed) {
      const { slice: next, rowBytes: nextBytes }: Weighed = weighed;
      const wanted = rowsIn(attempt, ((bytesPerRow ?? rowBytes / GUESSED_COMPRESSION) * nextBytes) / rowBytes);
      if (isFarOff(next.rows, asked, wanted)) weighed = await cutAgain(attempt, run, slice.end, wanted, weighed);
    }
    yield { ...written, isLast: weighed === undefined };
  }
}

/** Cuts the day's next slice, of at most `rows` rows. */
function cut(attempt: Attempt, run: files.RunToDo, after: Cursor | null, rows: number): Promise<Slice | undefined> {
  attempt.signal.throwIfAborted();
  const window = { since: microTime(run.start_time), before: microTime(run.end_time) };
  return nextSlice(attempt.deps.clickhouse, attempt.held.snapshot_id!, window, after, rows);
}

/**
 * Recuts a slice to another size. Its measurements hold for a shorter slice too; a longer one may have feedback where
 * the first had none.
 */
async function cutAgain(
  attempt: Attempt,
  run: files.RunToDo,
  after: Cursor,
  rows: number,
  { slice: before, rowBytes, withFeedback }: Weighed,
): Promise<Weighed> {
  const slice = (await cut(attempt, run, after, rows))!;
  if (slice.rows <= before.rows) return { slice, rowBytes, withFeedback };
  return { slice, rowBytes, withFeedback: await gatherFeedback(attempt, slice) };
}

const rowsIn = ({ deps: { settings } }: Attempt, bytesPerRow: number): number =>
  Math.max(1, Math.min(settings.exportFileRows, Math.floor((settings.exportFileMb * 1e6) / bytesPerRow)));

/**
 * Returns true if a slice requested with `asked` rows differs by more than a quarter from the `wanted` size, which is
 * known from the previous file and the slice's weight.
 */
const isFarOff = (rows: number, asked: number, wanted: number): boolean =>
  rows > wanted * 1.25 || (rows === asked && rows < wanted * 0.75);

async function writeSlice(
  attempt: Attempt,
  { slice, rowBytes, withFeedback }: Weighed,
  n: number,
  tier: string,
): Promise<Omit<Written, "isLast">> {
  const { deps, held, scope, directory } = attempt;
  const { clickhouse } = deps;
  const fields = orderedFields(held.export_fields);
  // days are written sequentially, but the next may begin while this one is uploaded
  const path = join(directory, `${slice.first.slice(0, 10)}-${fileName(n)}`);
  const context = { version: held.format_version, tenantId: held.tenant_id, tier, withFeedback };
  const statement = selectSlice(scope, held.session_id, slice, fields, context);
  const { rows, bytes } = await writeParquet(clickhouse, statement, path, { compression: held.compression, rowBytes });
  if (rows > slice.rows) throw new Error(`a slice of ${slice.rows} ids gave ${rows} rows`);
  if (rows < slice.rows) {
    // missing ids must be deleted runs; deletions continue while we count, so fewer may be left, never more
    const left = await countSlice(clickhouse, scope, held.session_id, slice);
    if (left > rows) throw new Error(`a slice has ${left} runs, of which ${rows} were written`);
  }
  return { n, path, slice, rows, bytes };
}

/** Copies the slice's feedback statistics to where the statement reads them. @returns whether there are any */
async function gatherFeedback({ deps, held }: Attempt, slice: Slice): Promise<boolean> {
  const { clickhouse, sql } = deps;
  if (!needs(orderedFields(held.export_fields), "feedback")) return false;
  const ids = await runsWithFeedback(clickhouse, held.tenant_id, slice);
  for (let i = 0; i < ids.length; i += 5000) {
    const stats = await feedbackStats(sql, held.tenant_id, "runs", ids.slice(i, i + 5000));
    await insertFeedbackStats(clickhouse, slice.snapshotId, stats);
  }
  return ids.length > 0;
}

/** Returns the tier of the project's runs that have none themselves. */
async function projectTier(
  { sql, settings }: Pick<ExportDeps, "sql" | "settings">,
  { tenant_id, session_id }: { tenant_id: string; session_id: string },
): Promise<string> {
  const tiers = await findTiers(sql, tenant_id, [session_id]);
  return tiers.get(session_id)?.trace_tier ?? settings.traceTier;
}
