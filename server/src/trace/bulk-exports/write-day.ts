/** A day's rows as files of this machine, slice by slice of the snapshot, from behind the last one that is recorded. */
import { join } from "node:path";

import { feedbackStats } from "../feedback/stats.ts";
import { type Attempt, microTime } from "./attempt.ts";
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
import { projectTier } from "./project-tier.ts";
import { writeParquet } from "./write-parquet.ts";

export interface Written {
  /** The file's number, which is its name. */
  n: number;
  path: string;
  slice: Slice;
  rows: number;
  bytes: number;
  /** Of the day. */
  isLast: boolean;
}

/** A slice with what must be known before it is written. */
interface Weighed {
  slice: Slice;
  rowBytes: number;
  withFeedback: boolean;
}

/** A day, where it goes on, and its first slice: made while the day before is still written. */
export interface DayBegun {
  run: files.RunToDo;
  /** Files that are recorded already. */
  written: number;
  tier: string;
  bytesPerRow: number | undefined;
  /** None: all of them are. */
  weighed: Weighed | undefined;
}

/** Texts shrink to a third or less; where they do not, the next file knows better. */
const GUESSED_COMPRESSION = 3;

/** @param expected bytes that a row took in the files of the day before */
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
 * While a slice is written the next one is cut, weighed and gets its feedback: both are the work of one core.
 *
 * @param onLast called while the day's last file is written, with the bytes that a row takes, where they are known
 * @yields each file; nothing where all of them are recorded already
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
    // thrown where it is awaited
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

/** The next slice of a day, of so many rows at most. */
function cut(attempt: Attempt, run: files.RunToDo, after: Cursor | null, rows: number): Promise<Slice | undefined> {
  attempt.signal.throwIfAborted();
  const window = { since: microTime(run.start_time), before: microTime(run.end_time) };
  return nextSlice(attempt.deps.clickhouse, attempt.held.snapshot_id!, window, after, rows);
}

/** What was found out of a slice holds for a shorter one too; a longer one may have feedback where it had none. */
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

/** A slice of which `asked` rows were asked, when by the file before it and by its weight `wanted` are right. */
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
  // days are written one after another, but the next may begin while this is uploaded
  const path = join(directory, `${slice.first.slice(0, 10)}-${fileName(n)}`);
  const context = { version: held.format_version, tenantId: held.tenant_id, tier, withFeedback };
  const statement = selectSlice(scope, held.session_id, slice, fields, context);
  const { rows, bytes } = await writeParquet(clickhouse, statement, path, { compression: held.compression, rowBytes });
  if (rows > slice.rows) throw new Error(`a slice of ${slice.rows} ids gave ${rows} rows`);
  if (rows < slice.rows) {
    // ids that are missing must be gone; deletions go on while we count, so there may be fewer still, never more
    const left = await countSlice(clickhouse, scope, held.session_id, slice);
    if (left > rows) throw new Error(`a slice has ${left} runs, of which ${rows} were written`);
  }
  return { n, path, slice, rows, bytes };
}

/** Where the statement finds it. @returns whether there is any */
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
