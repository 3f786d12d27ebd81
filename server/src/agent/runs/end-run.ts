/**
 * Ends of runs: the final status, or the release into the queue. The database writes each under the fence of the
 * attempt; readers of the run are notified after the commit.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { GroupCommit } from "../../base/db/group-commit.ts";
import { isPassing, untilDone } from "../../base/db/retry.ts";
import { coerceError } from "../../base/errors.ts";
import type { ActiveRun } from "./active-run.ts";
import { readLinks, withLinks } from "../feedback-links/emit-links.ts";
import { buildOutput, interruptsIn, isSplit, joinedText, valuesText } from "../streams/run-output.ts";
import type { FinishedRun, FinishOutcome } from "../streams/finished-run.ts";
import { lostTrace } from "./close-trace.ts";
import type { Ended, FinalOutcome, RunEvent, StoredEnd } from "./phase.ts";
import type { RunQueueOptions } from "./queue-options.ts";
import { readHead, refreshThreadHead } from "./refresh-thread.ts";
import { sortedGroupCommit } from "../../base/db/sorted-commit.ts";
import {
  finishRuns,
  holdWebhooksForState,
  releaseRun,
  selectCancelRequest,
  selectRunState,
  threadExists,
} from "./sql.ts";

/**
 * Limit for writing a run's end once the server stops. Until then it is retried as long as this server owns the run.
 */
const STOP_PATIENCE_MS = 5000;
/** Limit for reading a thread's state after a run whose host could not report it. */
const REFRESH_PATIENCE_MS = 60_000;
const REFRESH_PAUSE_MS = 1000;

export type RunEndingsOptions = Pick<
  RunQueueOptions,
  "sql" | "hotSql" | "log" | "settings" | "hosts" | "streams" | "keeper" | "fault" | "alone"
>;

const LOST = { is: "lost" } as const;

/** Whether this server still owns the run, as far as it knows. */
const isOwned = (run: ActiveRun): boolean => run.phase !== "gone";

export class RunEndings {
  readonly #o: RunEndingsOptions;
  readonly #commits: GroupCommit<FinishedRun, FinishOutcome>;
  #underWay = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #until = Number.POSITIVE_INFINITY;

  constructor(options: RunEndingsOptions) {
    this.#o = options;
    this.#commits = sortedGroupCommit(
      ({ threadId }) => threadId,
      (runs) => {
        options.fault("before-final-status");
        return finishRuns(options.hotSql, runs, !options.alone());
      },
    );
  }

  /** Abandons optional work. Resolves when pending writes are done or have failed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#until = performance.now() + STOP_PATIENCE_MS;
    await this.settled();
  }

  /** Resolves when the tracked endings are written or have failed. */
  async settled(): Promise<void> {
    const over = sleep(2 * STOP_PATIENCE_MS, undefined, { ref: false });
    await Promise.race([Promise.allSettled([...this.#underWay]), over]);
  }

  /** Tracks an ending that is not awaited, until `stop`. */
  track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#o.log.error({ err: error }, "could not write the end of a run"))
      .finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  /**
   * Writes the end of a run. Retries while the database is unavailable, as long as this server owns the run. An end that the
   * database rejects becomes an error of the run, or else its release for another attempt.
   */
  async finish(run: ActiveRun, end: Ended, result: Buffer | undefined): Promise<RunEvent> {
    try {
      return await this.#finish(run, end, result);
    } catch (error) {
      if (!isOwned(run)) return LOST;
      if (isPassing(error)) throw error;
      this.#o.log.error({ err: error, run_id: run.runId }, "the database rejected the end of a run");
      const rejected = {
        error: "ResultNotStored",
        message: `The database rejected the run's result: ${coerceError(error).message}`,
      };
      return this.#finish(run, { outcome: "error", error: rejected }, undefined).catch((): RunEvent => ({
        is: "returned",
        blame: true,
        reason: rejected.message,
      }));
    }
  }

  async #finish(run: ActiveRun, end: Ended, result: Buffer | undefined): Promise<RunEvent> {
    const state = result && result.length > 2 ? result.toString() : null;
    const timedOut =
      end.outcome === "cancelled" ? await this.#whileOwned(run, () => this.#timeoutError(run)) : undefined;
    const error = end.error ?? timedOut;
    if (error && (timedOut || result === undefined)) {
      // the host has not sent the error
      const data = JSON.stringify({ error: error.error, message: error.message });
      this.#o.streams.open(run.runId).emit(run.attempt, "error", data);
    }
    const row = {
      runId: run.runId,
      threadId: run.threadId,
      attempt: run.attempt,
      outcome: end.outcome,
      error: error ? JSON.stringify(error) : null,
      state,
      quiet: !run.start.notify,
    };
    await this.#o.streams.get(run.runId)?.flagged;
    const isKept = !end.finished && this.#o.streams.get(run.runId)?.keeping !== undefined;
    const write = () => this.#whileOwned(run, () => (isKept ? this.#finishKept(run, row) : this.#commits.call(row)));
    let finished = this.#outcomeFromHost(end) ?? (await write());
    if (finished.outcome === "stale_values") {
      row.state = await this.#readState(run);
      finished = await write();
    }
    if (finished.outcome === "lost") {
      // the frames that were not written with the end belong to another attempt by now
      if (isKept) return LOST;
      // a commit whose response was lost is indistinguishable from a lost lease
      const outcome = await this.#whileOwned(run, () => this.#resolveLost(run, end, timedOut !== undefined));
      if (outcome === "lost") return LOST;
      finished.outcome = outcome;
    }
    if (!isOwned(run)) return LOST;
    const keepsHead = run.untouched || end.outcome === "refused" || finished.outcome === "deleted";
    if (row.state === null && !keepsHead) await this.#refreshHead(run);
    const outcome = finished.outcome as FinalOutcome;
    return { is: "stored", outcome, error, state: row.state, waiting: finished.waiting };
  }

  /** Retries while the database is unavailable, as long as this server owns the run. */
  #whileOwned<T>(run: ActiveRun, work: () => Promise<T>): Promise<T> {
    return untilDone(work, () => isOwned(run) && performance.now() < this.#until);
  }

  /** Reads how a run ended whose final status this attempt could not write, or may have written before. */
  async #resolveLost(run: ActiveRun, end: Ended, timedOut: boolean): Promise<FinishOutcome["outcome"]> {
    const row = await selectRunState(this.#o.sql, run.threadId, run.runId);
    if (row && (row.status === "pending" || row.status === "running" || row.attempt !== run.attempt)) return "lost";
    return row?.status ?? (await this.#resolveDeleted(run, end, timedOut));
  }

  /** Writes the final status, the last frames and the end of the stream in one commit. */
  #finishKept(run: ActiveRun, row: FinishedRun): Promise<FinishOutcome> {
    this.#o.fault("before-final-status");
    return this.#o.keeper.end(this.#o.streams.open(run.runId), row, readLinks(run.kwargs));
  }

  /**
   * Outcome of a run whose row was deleted: it was rolled back, unless its thread was deleted too, because a temporary thread
   * is deleted with its run, whatever the outcome.
   */
  async #resolveDeleted(run: ActiveRun, end: Pick<FinishedRun, "outcome">, timedOut: boolean): Promise<FinalOutcome> {
    if (await threadExists(this.#o.sql, run.threadId)) return "deleted";
    if (timedOut) return "timeout";
    return end.outcome === "success" ? "success" : end.outcome === "cancelled" ? "interrupted" : "error";
  }

  /** The end that the host has written with the run's last checkpoint. */
  #outcomeFromHost({ finished }: Pick<Ended, "finished">): FinishOutcome | undefined {
    if (!finished || finished.outcome === "lost" || finished.outcome === "stale_values") return undefined;
    this.#o.fault("before-final-status");
    return finished as FinishOutcome;
  }

  /** Ends the run's streams, and with them its readers, after its final status is committed. */
  conclude(run: ActiveRun, { outcome, error, state }: StoredEnd): void {
    const stream = this.#o.streams.open(run.runId);
    const links = outcome === "deleted" ? undefined : readLinks(run.kwargs);
    // a stored stream already has it
    if (links !== undefined && !stream.kept) stream.append("feedback", links);
    const output = (values: () => string | null) =>
      withLinks(
        buildOutput(outcome, error, stream.lastValues, values, () => state && interruptsIn(state)),
        links,
      );
    // long lists are joined only if a reader needs them
    const isLong = state !== null && !stream.lastValues && isSplit(state);
    const readLong = async (text: string) => {
      const values = joinedText(text) ?? (await this.#storedValues(run));
      return output(() => values);
    };
    this.#o.streams.end(run.runId, {
      status: outcome,
      output: isLong ? () => readLong(state) : output(() => state && valuesText(state)),
    });
  }

  async #storedValues({ threadId, runId }: ActiveRun): Promise<string | null> {
    return (await selectRunState(this.#o.sql, threadId, runId))?.values ?? null;
  }

  /** Reads the whole state of a run's thread through a host; null where that fails. */
  async #readState({ threadId, graphId }: ActiveRun): Promise<string | null> {
    if (graphId === null) return null;
    try {
      const head = await readHead(this.#o.hosts(), threadId, graphId);
      return head ? JSON.stringify(head) : null;
    } catch (error) {
      this.#o.log.debug({ err: error, thread_id: threadId }, "could not read the thread's state");
      return null;
    }
  }

  /** Error of a run cancelled by its time limit; other cancelled runs end without one. */
  async #timeoutError(run: ActiveRun): Promise<{ error: string; message: string } | undefined> {
    const row = await selectCancelRequest(this.#o.sql, run.runId);
    if (row?.cancel_action !== "timeout") return undefined;
    return { error: "RunTimeoutError", message: row.cancel_reason ?? "The run took too long." };
  }

  /** Returns a run to the queue, where it may end: it was cancelled meanwhile, or lost too many hosts. */
  async release(run: ActiveRun, blame: boolean, reason: string): Promise<RunEvent> {
    const { maxFailures } = this.#o.settings;
    const release = { runId: run.runId, attempt: run.attempt, blame, maxFailures, reason, notify: !this.#o.alone() };
    let outcome: string;
    try {
      ({ outcome } = await this.#whileOwned(run, () => releaseRun(this.#o.sql, release)));
    } catch (error) {
      if (!isOwned(run)) return LOST;
      if (isPassing(error)) throw error;
      this.#o.log.error({ err: error, run_id: run.runId }, "the database rejected the return of a run to the queue");
      return { is: "stuck" };
    }
    if (outcome === "lost" || !isOwned(run)) return LOST;
    if (outcome === "pending") return { is: "requeued" };
    const error = outcome === "error" ? { error: "RunFailed", message: reason } : undefined;
    if (error) this.#o.streams.open(run.runId).append("error", JSON.stringify(error));
    if (outcome !== "deleted") await this.#refreshHead(run);
    this.#o.hosts().closeTrace(lostTrace(run, reason));
    return { is: "stored", outcome: outcome as FinalOutcome, error, state: null, waiting: true };
  }

  /** Reads the thread's state through a host when the run's own host could not report it. Best effort. */
  async #refreshHead(run: ActiveRun): Promise<void> {
    if (run.graphId === null || (await this.#tryRefresh(run, run.graphId))) return;
    // readers that wait for the run's end do not wait for this
    this.track(this.#refreshLater(run, run.graphId));
  }

  /** Retries: on a busy machine, replacing a lost host takes longer than one attempt. */
  async #refreshLater(run: ActiveRun, graphId: string): Promise<void> {
    const until = performance.now() + REFRESH_PATIENCE_MS;
    do {
      await holdWebhooksForState(this.#o.sql, run.threadId).catch((error: unknown) =>
        this.#o.log.debug({ err: error, thread_id: run.threadId }, "could not delay the webhooks of a thread"),
      );
      if (await this.#tryRefresh(run, graphId)) return;
      await sleep(REFRESH_PAUSE_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
    } while (performance.now() < until && !this.#stopping.signal.aborted);
  }

  #tryRefresh({ threadId }: ActiveRun, graphId: string): Promise<boolean> {
    return refreshThreadHead(this.#o.sql, this.#o.hosts(), threadId, graphId).then(
      () => true,
      (error: unknown) => {
        this.#o.log.debug({ err: error, thread_id: threadId }, "could not read the thread's state");
        return false;
      },
    );
  }
}
