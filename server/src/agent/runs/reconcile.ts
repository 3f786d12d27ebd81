/**
 * Reconciles the rows of runs that are running under this server with the runs that it executes. They differ where an
 * answer of the database or a notification was lost, or a local step failed:
 * - a row without a run here is handed back to the queue,
 * - a run here whose row belongs to another server, or was deleted, is dropped as lost,
 * - a run here that no host executes returns to the queue,
 * - a cancellation that has not reached the run's host is passed on to it.
 *
 * Statements in progress make both sides differ for a moment. So a difference must be seen by two heartbeats, and no
 * claim or creation that began before the first of them may still be in progress.
 */
import { isDatabaseUnavailable } from "../../base/db/retry.ts";
import type { Log } from "../../base/log.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { ActiveRun } from "./active-run.ts";
import { selectRunState, type RunningRow } from "./sql.ts";

export interface ReconcilerOptions {
  sql: Sql;
  log: Log;
  serverId: string;
  active: ReadonlyMap<string, ActiveRun>;
  /** Whether a claim that began before this time, or the creation of this run, is in progress. */
  isExplained(runId: string, before: number): boolean;
  /** Whether a host has the run. */
  isExecuted(run: ActiveRun): boolean;
  deliverCancel(runId: string): void;
  /** Hands back a row that runs under this server without a run here. */
  handBack(runId: string, attempt: number): Promise<void>;
  /** Releases a run that no host here executes. */
  release(run: ActiveRun): void;
  /** Drops a run that another server owns. */
  lose(run: ActiveRun): void;
}

export class Reconciler {
  readonly #o: ReconcilerOptions;
  /** Times at which rows without a run here were first seen, by run and attempt. */
  #unmatched = new Map<string, number>();
  /** Runs that differed from their rows at the previous heartbeat. */
  #suspects = new Set<ActiveRun>();
  #busy = new Set<string>();

  constructor(options: ReconcilerOptions) {
    this.#o = options;
  }

  /** @param queriedAt when the rows were queried, by `performance.now()` */
  compare(rows: RunningRow[], queriedAt: number): void {
    const mine = new Map(rows.map((row) => [row.run_id, row]));
    this.#compareRows(rows);
    this.#compareRuns(mine, queriedAt);
  }

  #compareRows(rows: RunningRow[]): void {
    const now = performance.now();
    const unmatched = new Map<string, number>();
    for (const { run_id: runId, attempt, cancel_action: action } of rows) {
      if (this.#o.active.get(runId)?.attempt === attempt) {
        if (action !== null) this.#o.deliverCancel(runId);
        continue;
      }
      const key = `${runId} ${attempt}`;
      const first = this.#unmatched.get(key);
      unmatched.set(key, first ?? now);
      if (first !== undefined && !this.#o.isExplained(runId, first)) this.#handBack(key, runId, attempt);
    }
    this.#unmatched = unmatched;
  }

  #handBack(key: string, runId: string, attempt: number): void {
    if (this.#busy.has(key)) return;
    this.#busy.add(key);
    this.#o.log.warn({ run_id: runId, attempt }, "a claimed run did not start; handing it back to the queue");
    void this.#o
      .handBack(runId, attempt)
      .catch((error: unknown) => this.#failed(error, runId))
      .finally(() => this.#busy.delete(key));
  }

  #compareRuns(mine: ReadonlyMap<string, RunningRow>, queriedAt: number): void {
    const suspects = new Set<ActiveRun>();
    for (const run of this.#o.active.values()) {
      if (run.phase === "ending" || run.claimedAt > queriedAt) continue;
      const idle = run.phase === "executing" && !this.#o.isExecuted(run);
      const foreign = mine.get(run.runId)?.attempt !== run.attempt;
      if (!idle && !foreign) continue;
      suspects.add(run);
      if (!this.#suspects.has(run)) continue;
      if (foreign) void this.#check(run).catch((error: unknown) => this.#failed(error, run.runId));
      else this.#o.release(run);
    }
    this.#suspects = suspects;
  }

  /**
   * Checks the run's row again. A final one is left to the run's host, which has written it and is about to report it.
   */
  async #check(run: ActiveRun): Promise<void> {
    const row = await selectRunState(this.#o.sql, run.threadId, run.runId);
    if (this.#o.active.get(run.runId) !== run || run.phase === "ending") return;
    const own = row?.status === "running" && row.server_id === this.#o.serverId && row.attempt === run.attempt;
    const final = row !== undefined && row.status !== "pending" && row.status !== "running";
    if (own || (final && this.#o.isExecuted(run))) return;
    this.#o.log.warn({ run_id: run.runId, attempt: run.attempt }, "a run no longer belongs to this server");
    this.#o.lose(run);
  }

  #failed(error: unknown, runId: string): void {
    // retried at the next heartbeat
    if (!isDatabaseUnavailable(error)) this.#o.log.error({ err: error, run_id: runId }, "could not reconcile a run");
  }
}
