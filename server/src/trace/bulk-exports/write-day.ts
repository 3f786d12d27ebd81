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

/** The next slice is cut and weighed while this one is written: both are the work of one core. */
interface Weighed {
  slice: Slice;
  rowBytes: number;
}

/** Texts shrink to a third or less; where they do not, the next file knows better. */
const GUESSED_COMPRESSION = 3;

/**
 * @param expected bytes that a row took in the files of the day before
 * @yields each file; nothing where all of them are recorded already
 */
export async function* writeDay(
  attempt: Attempt,
  run: files.RunToDo,
  expected?: number,
): AsyncGenerator<Written, undefined> {
  const { deps, held, scope, signal } = attempt;
  const { exportFileMb, exportFileRows } = deps.settings;
  const last = await files.lastFile(deps.sql, run.id);
  const tier = await projectTier(deps, held);
  const window = { since: microTime(run.start_time), before: microTime(run.end_time) };
  const next = async (after: Cursor | null, rows: number): Promise<Weighed | undefined> => {
    signal.throwIfAborted();
    const slice = await nextSlice(deps.clickhouse, held.snapshot_id!, window, after, rows);
    return slice && { slice, rowBytes: await rowWeight(deps.clickhouse, scope, held.session_id, slice) };
  };
  const rowsIn = (bytes: number) => Math.max(1, Math.min(exportFileRows, Math.floor((exportFileMb * 1e6) / bytes)));
  let bytesPerRow = last && last.row_count > 0 ? last.byte_count / last.row_count : expected;
  const rowsNext = (rowBytes: number) => rowsIn(bytesPerRow ?? rowBytes / GUESSED_COMPRESSION);

  const begin = last ? { start_time: last.last_start_time, id: last.last_id } : null;
  let weighed = await next(begin, bytesPerRow === undefined ? exportFileRows : rowsIn(bytesPerRow));
  if (weighed && weighed.slice.rows > rowsNext(weighed.rowBytes))
    weighed = await next(begin, rowsNext(weighed.rowBytes));
  for (let n = (last?.n ?? 0) + 1; weighed; n++) {
    const { slice, rowBytes }: Weighed = weighed;
    const asked = rowsNext(rowBytes);
    const ahead = next(slice.end, asked);
    // thrown where it is awaited
    ahead.catch(() => {});
    let written;
    try {
      written = await writeSlice(attempt, slice, n, { tier, rowBytes });
    } finally {
      weighed = await ahead;
    }
    deps.faultPoint("export-after-write");
    if (written.rows > 0) bytesPerRow = written.bytes / written.rows;
    if (weighed) {
      const wanted = rowsIn(((bytesPerRow ?? rowBytes / GUESSED_COMPRESSION) * weighed.rowBytes) / rowBytes);
      if (isFarOff(weighed.slice.rows, asked, wanted)) weighed = await next(slice.end, wanted);
    }
    yield { ...written, isLast: weighed === undefined };
  }
}

/** A slice of which `asked` rows were asked, when by the file before it and by its weight `wanted` are right. */
const isFarOff = (rows: number, asked: number, wanted: number): boolean =>
  rows > wanted * 1.25 || (rows === asked && rows < wanted * 0.75);

async function writeSlice(
  attempt: Attempt,
  slice: Slice,
  n: number,
  { tier, rowBytes }: { tier: string; rowBytes: number },
): Promise<Omit<Written, "isLast">> {
  const { deps, held, scope, directory } = attempt;
  const { clickhouse } = deps;
  const fields = orderedFields(held.export_fields);
  const withFeedback = needs(fields, "feedback") && (await gatherFeedback(attempt, slice));
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
  const ids = await runsWithFeedback(clickhouse, held.tenant_id, slice);
  for (let i = 0; i < ids.length; i += 5000) {
    const stats = await feedbackStats(sql, held.tenant_id, "runs", ids.slice(i, i + 5000));
    await insertFeedbackStats(clickhouse, slice.snapshotId, stats);
  }
  return ids.length > 0;
}
