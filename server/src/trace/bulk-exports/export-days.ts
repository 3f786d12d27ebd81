/**
 * Exports days sequentially. A file is uploaded and recorded while the engine writes the next one, which may be the
 * next day's. So there are at most two files on disk, and memory holds a few upload parts and a few row groups. A run
 * begins, with the credentials of that moment, when the previous one has ended.
 */
import { rm } from "node:fs/promises";

import { readChunks } from "../../base/blob/read-chunks.ts";
import { type Attempt, NotOursError } from "./attempt.ts";
import * as files from "./files-sql.ts";
import { dayPath, fileName } from "./paths.ts";
import { forgetCredentials } from "./run-credentials.ts";
import { withoutRefusal } from "./without-refusal.ts";
import { beginDay, type DayBegun, writeDay, type Written } from "./write-day.ts";

/** Failure of a run, with its id. */
export class RunFailure extends Error {
  override name = "RunFailure";
  readonly runId: string;

  constructor(runId: string, cause: unknown) {
    super("a run of an export failed", { cause });
    this.runId = runId;
  }
}

/** A run, and the bucket opened with the credentials it began with. */
interface Begun extends Awaited<ReturnType<Attempt["credentials"]["open"]>> {
  run: files.RunToDo;
}

/** Throws RunFailure, NotOursError, or the abort reason of the signal. */
export async function exportDays(attempt: Attempt): Promise<void> {
  const first = await files.nextRun(attempt.deps.sql, attempt.held.id, null);
  if (!first) return;
  let begun: Begun | undefined = await ofRun(first, beginRun(attempt, first));
  const steps = stepsOf(attempt, first);
  let ahead = steps.next();
  try {
    for (;;) {
      const { value: step, done } = await ahead;
      if (done) return;
      const { run, file } = step;
      ahead = steps.next();
      // rejections are thrown where `ahead` is awaited
      ahead.catch(() => {});
      begun ??= await ofRun(run, beginRun(attempt, run));
      if (file) await ofRun(run, uploadFile(attempt, begun, file));
      if (file && !file.isLast) continue;
      await ofRun(run, endRun(attempt, begun));
      begun = undefined;
    }
  } finally {
    // nothing of this attempt may still be writing when another begins
    await ahead.catch(() => {});
    await steps.return(undefined);
    begun?.bucket.close();
  }
}

interface Step {
  run: files.RunToDo;
  /** Undefined: all files of the run are already in the bucket. */
  file: Written | undefined;
}

async function* stepsOf(attempt: Attempt, first: files.RunToDo): AsyncGenerator<Step, undefined> {
  let next: Promise<DayBegun | undefined> = ofRun(first, beginDay(attempt, first));
  try {
    for (let day = await next; day; day = await next) {
      const { run }: DayBegun = day;
      let count = 0;
      const begin = (bytesPerRow?: number) => {
        next = nextDay(attempt, run, bytesPerRow);
        // rejections are thrown where `next` is awaited
        next.catch(() => {});
      };
      const written = writeDay(attempt, day, begin);
      for (;;) {
        const { value: file, done }: IteratorResult<Written, undefined> = await ofRun(run, written.next());
        if (done) break;
        count++;
        yield { run, file };
      }
      if (count > 0) continue;
      yield { run, file: undefined };
      begin();
    }
  } finally {
    await next.catch(() => {});
  }
}

async function nextDay(
  attempt: Attempt,
  { start_time }: files.RunToDo,
  bytesPerRow: number | undefined,
): Promise<DayBegun | undefined> {
  const run = await files.nextRun(attempt.deps.sql, attempt.held.id, start_time);
  return run && ofRun(run, beginDay(attempt, run, bytesPerRow));
}

async function ofRun<T>(run: files.RunToDo, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof NotOursError || error instanceof RunFailure ? error : new RunFailure(run.id, error);
  }
}

async function beginRun(attempt: Attempt, run: files.RunToDo): Promise<Begun> {
  attempt.signal.throwIfAborted();
  if (!(await files.startRun(attempt.deps.sql, attempt.held, run.id))) throw new NotOursError();
  const begun = { run, ...(await attempt.credentials.open(run.id)) };
  await endOldUploads(attempt, begun);
  return begun;
}

async function endRun({ deps, held }: Attempt, { run, bucket }: Begun): Promise<void> {
  bucket.close();
  if (!(await files.endRun(deps.sql, held, run.id, "COMPLETED"))) throw new NotOursError();
  await forgetCredentials(deps.secrets, run.id);
  deps.faultPoint("export-after-day");
}

const keyOf = ({ held }: Attempt, { config, run }: Begun, n: number): string =>
  dayPath(config, { ...held, export_id: held.id, start_time: run.start_time }, fileName(n));

/** Aborts uploads of killed attempts. Those that the store refuses to abort are left to its lifecycle rules. */
async function endOldUploads(attempt: Attempt, begun: Begun): Promise<void> {
  const { deps, held } = attempt;
  if (held.attempt === 1) return;
  const { run, bucket } = begun;
  for (const upload of await files.uploadsOf(deps.sql, held.id)) {
    if (upload.run_id !== run.id) continue;
    await withoutRefusal(() => bucket.abortUpload(upload.key, upload.upload_id));
    await files.deleteUpload(deps.sql, upload);
  }
  // the process may have been killed between the store's response and the record of it
  const n = (await files.lastFile(deps.sql, run.id))?.n ?? 0;
  await withoutRefusal(() => bucket.abortUploads(keyOf(attempt, begun, n + 1)));
}

async function uploadFile(attempt: Attempt, begun: Begun, file: Written): Promise<void> {
  const { deps, held, signal } = attempt;
  const { sql, faultPoint } = deps;
  const { run, bucket } = begun;
  const { n, path, slice, rows, bytes } = file;
  const key = keyOf(attempt, begun, n);
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
        if (!(await files.insertUpload(sql, held, { run_id: run.id, key, upload_id: uploadId }))) {
          throw new NotOursError();
        }
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
