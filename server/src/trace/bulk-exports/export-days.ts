/**
 * Exports days sequentially. While the engine writes a file, the next one is planned and the previous one uploaded, so
 * there are at most two files on disk, and memory holds a few upload parts and a few row groups. A day's run begins,
 * with the credentials of that moment, when the previous one has ended.
 */
import { type Attempt, LostExportError } from "./attempt.ts";
import * as files from "./files-sql.ts";
import { adjust, planDay, planNext, type PlannedFile } from "./plan-file.ts";
import { forgetCredentials } from "./run-credentials.ts";
import { attributeToRun } from "./run-failure.ts";
import { abortOldUploads, type OpenRun, uploadFile } from "./upload-file.ts";
import { writeFile, type WrittenFile } from "./write-file.ts";

/** Throws RunFailure, LostExportError, or the abort reason of the signal. */
export async function exportDays(attempt: Attempt): Promise<void> {
  const runs = new RunSequence(attempt);
  const ahead = new Slot<PlannedFile | undefined>();
  const upload = new Slot<void>();
  try {
    let planned = await planDay(attempt, null);
    if (planned) await runs.begin(planned.run);
    while (planned) {
      const { run, content }: PlannedFile = planned;
      ahead.start(planNext(attempt, planned));
      const file = content && (await attributeToRun(run.id, writeFile(attempt, planned, content)));
      let next: PlannedFile | undefined;
      try {
        next = await ahead.settled;
      } catch (error) {
        // the file is complete, whatever happened to the next one
        await upload.settled;
        await runs.add(run, file, { isLast: false });
        throw error;
      }
      if (file) {
        attempt.deps.faultPoint("export-after-write");
        const bytesPerRow = file.rows > 0 ? file.bytes / file.rows : planned.bytesPerRow;
        next = next && (await attributeToRun(run.id, adjust(attempt, next, planned, bytesPerRow)));
      }
      await upload.settled;
      upload.start(runs.add(run, file, { isLast: next?.run !== run }));
      planned = next;
    }
    await upload.settled;
  } finally {
    // nothing of this attempt may still be writing when another begins
    await Promise.allSettled([ahead.settled, upload.settled]);
    runs.close();
  }
}

/** Holds one promise that is awaited later. A rejection counts as handled; awaiting `settled` throws it. */
class Slot<T> {
  #work: Promise<T> | undefined;

  start(work: Promise<T>): void {
    this.#work = work;
    work.catch(() => {});
  }

  get settled(): Promise<T> | undefined {
    return this.#work;
  }
}

/** The run of the current day: begins with its first file and ends after its last one. */
class RunSequence {
  readonly #attempt: Attempt;
  #open: OpenRun | undefined;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  async begin(run: files.PendingExportRun): Promise<void> {
    await attributeToRun(run.id, this.#begin(run));
  }

  /** Uploads a file of a run. Without a file every file of the run is already in the bucket. */
  add(run: files.PendingExportRun, file: WrittenFile | undefined, { isLast }: { isLast: boolean }): Promise<void> {
    return attributeToRun(run.id, this.#add(run, file, isLast));
  }

  close(): void {
    this.#open?.bucket.close();
  }

  async #begin(run: files.PendingExportRun): Promise<OpenRun> {
    const { deps, claimed, signal, credentials } = this.#attempt;
    signal.throwIfAborted();
    if (!(await files.startRun(deps.sql, claimed, run.id))) throw new LostExportError();
    this.#open = { run, ...(await credentials.open(run.id)) };
    await abortOldUploads(this.#attempt, this.#open);
    return this.#open;
  }

  async #add(run: files.PendingExportRun, file: WrittenFile | undefined, isLast: boolean): Promise<void> {
    const { deps, claimed } = this.#attempt;
    const open = this.#open ?? (await this.#begin(run));
    if (file) {
      await uploadFile(this.#attempt, open, file);
      deps.metrics.uploaded(file);
    }
    if (!isLast) return;
    open.bucket.close();
    this.#open = undefined;
    if (!(await files.endRun(deps.sql, claimed, run.id, "COMPLETED"))) throw new LostExportError();
    await forgetCredentials(deps.secrets, run.id);
    deps.faultPoint("export-after-day");
  }
}
