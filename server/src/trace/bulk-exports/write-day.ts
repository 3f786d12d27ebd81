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

/** Texts shrink to a third or less; where they do not, the next file knows better. */
const GUESSED_COMPRESSION = 3;

/** @yields each file; nothing where all of them are recorded already */
export async function* writeDay(attempt: Attempt, run: files.RunToDo): AsyncGenerator<Written, undefined> {
  const { deps, held, scope } = attempt;
  const { exportFileMb, exportFileRows } = deps.settings;
  const last = await files.lastFile(deps.sql, run.id);
  const tier = await projectTier(deps, held);
  const window = { since: microTime(run.start_time), before: microTime(run.end_time) };
  const next = (after: Cursor | null, rows: number) => {
    attempt.signal.throwIfAborted();
    return nextSlice(deps.clickhouse, held.snapshot_id!, window, after, rows);
  };
  const rowsIn = (bytes: number) => Math.max(1, Math.min(exportFileRows, Math.floor((exportFileMb * 1e6) / bytes)));
  let bytesPerRow = last && last.row_count > 0 ? last.byte_count / last.row_count : undefined;
  const rowsNext = () => (bytesPerRow === undefined ? exportFileRows : rowsIn(bytesPerRow));

  let slice = await next(last ? { start_time: last.last_start_time, id: last.last_id } : null, rowsNext());
  for (let n = (last?.n ?? 0) + 1; slice; n++) {
    const rowBytes = await rowWeight(deps.clickhouse, scope, held.session_id, slice);
    const guessed = rowsIn(rowBytes / GUESSED_COMPRESSION);
    if (bytesPerRow === undefined && slice.rows > guessed) slice = (await next(slice.after, guessed))!;
    const written = await writeSlice(attempt, slice, n, { tier, rowBytes });
    deps.faultPoint("export-after-write");
    if (written.rows > 0) bytesPerRow = written.bytes / written.rows;
    slice = await next(slice.end, rowsNext());
    yield { ...written, isLast: slice === undefined };
  }
}

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
