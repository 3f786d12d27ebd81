/**
 * How runs end: the final status, or the way back into the queue. Everything here is written by the database
 * under the fence of the attempt; what the readers of a run learn comes after the commit.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { RunEnd } from "../../../../graph-host/src/protocol.ts";
import type { GroupCommit } from "../../base/db/group-commit.ts";
import { isPassing, untilDone } from "../../base/db/retry.ts";
import { coerceError } from "../../base/errors.ts";
import type { HostPool } from "../hosts/host-pool.ts";
import { threadExists } from "../threads/sql.ts";
import type { ActiveRun, RunCounts, RunQueueOptions } from "./active-run.ts";
import { linksOf, withLinks } from "../feedback-links/tell-links.ts";
import { answerOf } from "./answer.ts";
import { lostTrace } from "./close-trace.ts";
import { refreshThreadHead } from "./refresh-thread.ts";
import { sortedGroupCommit } from "./sorted-commit.ts";
import {
  type FinishedRun,
  type FinishOutcome,
  finishRuns,
  holdWebhooksForState,
  releaseRun,
  selectCancelRequest,
  selectRunState,
} from "./sql.ts";

/** How long the end of a run may take to write once the server stops; until then it is tried as long as the run is ours. */
const STOP_PATIENCE_MS = 5000;
/** For how long a thread's state is asked for after a run whose host could not tell it. */
const REFRESH_PATIENCE_MS = 60_000;
const REFRESH_PAUSE_MS = 1000;

type Ended = Pick<RunEnd, "error" | "finished"> & Pick<FinishedRun, "outcome">;

export interface RunEndingsOptions extends RunQueueOptions {
  counts: RunCounts;
  hosts(): HostPool;
  /** The run is no longer executed here. */
  leave(run: ActiveRun): void;
  /** Whether the run is still this server's, as far as it knows. */
  holds(run: ActiveRun): boolean;
  /** The run belongs to somebody else. */
  lose(run: ActiveRun): void;
  /** There may be something to claim. */
  wake(): void;
}

export class RunEndings {
  readonly #o: RunEndingsOptions;
  readonly #commits: GroupCommit<FinishedRun, FinishOutcome>;
  #underWay = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #until = Number.POSITIVE_INFINITY;

  constructor(options: RunEndingsOptions) {
    this.#o = options;
    this.#commits = sortedGroupCommit((runs) => {
      options.fault("before-final-status");
      return finishRuns(options.hotSql, runs, !options.alone());
    });
  }

  /** Leaves what may stay undone. Resolves when what is under way is written, or has failed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#until = performance.now() + STOP_PATIENCE_MS;
    await Promise.allSettled([...this.#underWay]);
  }

  /** Follows an ending that nobody waits for. */
  track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#o.log.error({ err: error }, "the end of a run could not be written"))
      .finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  /**
   * Writes the end of a run, however long the database is away while the run is this server's. An end that the
   * database refuses becomes an error of the run, or else one more attempt of it.
   */
  async finish(run: ActiveRun, end: Ended, result: Buffer | undefined): Promise<void> {
    run.phase = "ending";
    try {
      await this.#finish(run, end, result);
    } catch (error) {
      if (!this.#o.holds(run)) return;
      if (isPassing(error)) throw error;
      this.#o.log.error({ err: error, run_id: run.runId }, "the end of a run was refused by the database");
      const refused = {
        error: "ResultNotStored",
        message: `The run's result was refused: ${coerceError(error).message}`,
      };
      await this.#finish(run, { outcome: "error", error: refused }, undefined).catch(() =>
        this.release(run, true, refused.message),
      );
    }
  }

  async #finish(run: ActiveRun, end: Ended, result: Buffer | undefined): Promise<void> {
    const state = result && result.length > 2 ? result.toString() : null;
    const timedOut =
      end.outcome === "cancelled" ? await this.#patiently(run, () => this.#timeoutError(run)) : undefined;
    const error = end.error ?? timedOut;
    if (error && (timedOut || result === undefined)) {
      // the host has not said it
      this.#o.streams.open(run.runId).append("error", JSON.stringify({ error: error.error, message: error.message }));
    }
    const row = {
      runId: run.runId,
      threadId: run.threadId,
      attempt: run.attempt,
      outcome: end.outcome,
      error: error ? JSON.stringify(error) : null,
      state,
    };
    await this.#o.protocol.settled(run.runId);
    await this.#o.streams.get(run.runId)?.flagged;
    const isKept = !end.finished && this.#o.streams.get(run.runId)?.keeping !== undefined;
    const finished =
      this.#written(end) ??
      (await this.#patiently(run, () => (isKept ? this.#finishKept(run, row) : this.#commits.call(row))));
    if (finished.outcome === "lost") {
      // the frames that were not written with the end are somebody else's by now
      if (isKept) return this.#o.lose(run);
      // a commit whose answer was lost on the way looks the same as a lease that was lost
      const outcome = await this.#patiently(run, () => this.#outcomeOfLost(run, end, timedOut !== undefined));
      if (outcome === "lost") return this.#o.lose(run);
      finished.outcome = outcome;
    }
    // others have it since
    if (!this.#o.holds(run)) return;
    const keepsHead = run.untouched || end.outcome === "refused" || finished.outcome === "deleted";
    if (state === null && !keepsHead) await this.#refreshHead(run);
    this.#end(run, finished.outcome as Exclude<FinishOutcome["outcome"], "lost">, error, state);
    if (finished.waiting) this.#o.wake();
  }

  #patiently<T>(run: ActiveRun, work: () => Promise<T>): Promise<T> {
    return untilDone(work, () => this.#o.holds(run) && performance.now() < this.#until);
  }

  async #outcomeOfLost(run: ActiveRun, end: Ended, timedOut: boolean): Promise<FinishOutcome["outcome"]> {
    const row = await selectRunState(this.#o.sql, run.threadId, run.runId);
    if (row && (row.status === "pending" || row.status === "running" || row.attempt !== run.attempt)) return "lost";
    return row?.status ?? (await this.#outcomeOfGone(run, end, timedOut));
  }

  /** The final status, the last frames and the end of the stream: one commit. */
  #finishKept(run: ActiveRun, row: FinishedRun): Promise<FinishOutcome> {
    this.#o.fault("before-final-status");
    return this.#o.keeper.end(this.#o.streams.open(run.runId), row, linksOf(run.kwargs));
  }

  /** A run that is gone was rolled back, unless its thread is gone too: a temporary one goes with its run, however that ended. */
  async #outcomeOfGone(
    run: ActiveRun,
    end: Pick<FinishedRun, "outcome">,
    timedOut: boolean,
  ): Promise<Exclude<FinishOutcome["outcome"], "lost">> {
    if (await threadExists(this.#o.sql, run.threadId)) return "deleted";
    if (timedOut) return "timeout";
    return end.outcome === "success" ? "success" : end.outcome === "cancelled" ? "interrupted" : "error";
  }

  /** What the host has written with the run's last checkpoint. */
  #written({ finished }: Pick<RunEnd, "finished">): FinishOutcome | undefined {
    if (!finished || finished.outcome === "lost") return undefined;
    this.#o.fault("before-final-status");
    return finished as FinishOutcome;
  }

  #end(
    run: ActiveRun,
    outcome: Exclude<FinishOutcome["outcome"], "lost">,
    error: { error: string; message: string } | undefined,
    state: string | null,
  ): void {
    this.#o.counts.finished += 1;
    this.#o.onEnded(run, outcome);
    this.#o.leave(run);
    const stream = this.#o.streams.open(run.runId);
    const links = outcome === "deleted" ? undefined : linksOf(run.kwargs);
    // a kept stream has it already
    if (links !== undefined && !stream.kept) stream.append("feedback", links);
    const answer = withLinks(answerOf(outcome, error, stream.lastValues, state), links);
    this.#o.streams.end(run.runId, { status: outcome, answer });
    this.#o.protocol.ended(run);
  }

  /** A cancelled run that ran out of time is told so; other cancelled runs end without a word (contract §8). */
  async #timeoutError(run: ActiveRun): Promise<{ error: string; message: string } | undefined> {
    const row = await selectCancelRequest(this.#o.sql, run.runId);
    if (row?.cancel_action !== "timeout") return undefined;
    return { error: "RunTimeoutError", message: row.cancel_reason ?? "The run took too long." };
  }

  async release(run: ActiveRun, blame: boolean, reason: string): Promise<void> {
    run.phase = "ending";
    this.#o.counts.released += 1;
    const { maxFailures } = this.#o.settings;
    const given = { runId: run.runId, attempt: run.attempt, blame, maxFailures, reason, notify: !this.#o.alone() };
    const released = await this.#patiently(run, () => releaseRun(this.#o.sql, given)).catch((error: unknown) => {
      if (!this.#o.holds(run)) return undefined;
      // its row is still this server's: the next beats hand it back
      if (!isPassing(error)) this.#o.leave(run);
      throw error;
    });
    if (released === undefined || !this.#o.holds(run)) return;
    if (released.outcome === "pending") {
      this.#o.leave(run);
      // its stream stays open for the next attempt, here or elsewhere
      this.#o.follower.follow(run.runId, run.threadId);
      this.#o.wake();
    } else if (released.outcome === "lost") this.#o.lose(run);
    else {
      const error = released.outcome === "error" ? { error: "RunFailed", message: reason } : undefined;
      if (error) this.#o.streams.open(run.runId).append("error", JSON.stringify(error));
      if (released.outcome !== "deleted") await this.#refreshHead(run);
      this.#end(run, released.outcome as Exclude<FinishOutcome["outcome"], "lost">, error, null);
      this.#o.hosts().closeTrace(lostTrace(run, reason));
      this.#o.wake();
    }
  }

  /** Reads the thread's state through a host when the run's own host could not tell it. Best effort. */
  async #refreshHead(run: ActiveRun): Promise<void> {
    if (run.graphId === null || (await this.#refreshes(run, run.graphId))) return;
    // nobody who waits for the run's end waits for this
    this.track(this.#refreshLater(run, run.graphId));
  }

  /** On a busy machine it takes the host that follows a lost one longer than a try lasts. */
  async #refreshLater(run: ActiveRun, graphId: string): Promise<void> {
    const until = performance.now() + REFRESH_PATIENCE_MS;
    do {
      await holdWebhooksForState(this.#o.sql, run.threadId);
      if (await this.#refreshes(run, graphId)) return;
      await sleep(REFRESH_PAUSE_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
    } while (performance.now() < until && !this.#stopping.signal.aborted);
  }

  #refreshes({ threadId }: ActiveRun, graphId: string): Promise<boolean> {
    return refreshThreadHead(this.#o.sql, this.#o.hosts(), threadId, graphId).then(
      () => true,
      (error: unknown) => {
        this.#o.log.debug({ err: error, thread_id: threadId }, "the thread's state could not be read");
        return false;
      },
    );
  }
}
