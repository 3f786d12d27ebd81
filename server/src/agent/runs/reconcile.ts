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
import type { ActiveRun } from "./active-run.ts";
import type { RunAdmission } from "./admit-run.ts";
import type { RunClaimer } from "./claim-runs.ts";
import { isInHost, type RunEvent } from "./phase.ts";
import type { RunQueueOptions } from "./queue-options.ts";
import { selectRunState, type RunningRow } from "./sql.ts";

/** What a heartbeat has found. */
export interface Differences {
  /** Events of runs here. */
  events: (readonly [ActiveRun, RunEvent | Promise<RunEvent | undefined>])[];
  /** Rows that run under this server without a run here. */
  unmatched: RunningRow[];
}

export class Reconciler {
  readonly #o: Pick<RunQueueOptions, "sql" | "log" | "serverId" | "hosts">;
  readonly #active: ReadonlyMap<string, ActiveRun>;
  readonly #admission: RunAdmission;
  readonly #claimer: RunClaimer;
  /** Times at which rows without a run here were first seen, by run and attempt. */
  #unmatched = new Map<string, number>();
  /** Runs that differed from their rows at the previous heartbeat. */
  #suspects = new Set<ActiveRun>();

  constructor(
    options: RunQueueOptions,
    active: ReadonlyMap<string, ActiveRun>,
    admission: RunAdmission,
    claimer: RunClaimer,
  ) {
    this.#o = options;
    this.#active = active;
    this.#admission = admission;
    this.#claimer = claimer;
  }

  /** @param queriedAt when the rows were queried, by `performance.now()` */
  compare(rows: RunningRow[], queriedAt: number): Differences {
    const found: Differences = { events: [], unmatched: [] };
    this.#compareRows(rows, found);
    this.#compareRuns(new Map(rows.map((row) => [row.run_id, row])), queriedAt, found);
    return found;
  }

  #compareRows(rows: RunningRow[], found: Differences): void {
    const now = performance.now();
    const unmatched = new Map<string, number>();
    for (const row of rows) {
      const { run_id: runId, attempt } = row;
      const run = this.#active.get(runId);
      if (run?.attempt === attempt) {
        const event = row.cancel_action === null ? "confirmed" : "cancelled";
        found.events.push([run, { is: event }]);
        continue;
      }
      const key = `${runId} ${attempt}`;
      const first = this.#unmatched.get(key);
      unmatched.set(key, first ?? now);
      if (first !== undefined && !this.#isExplained(runId, first)) found.unmatched.push(row);
    }
    this.#unmatched = unmatched;
  }

  /** Whether a claim that began before this time, or the creation of this run, is in progress. */
  #isExplained(runId: string, before: number): boolean {
    return this.#admission.isCreating(runId) || this.#claimer.isClaimingSince(before);
  }

  #compareRuns(mine: ReadonlyMap<string, RunningRow>, queriedAt: number, found: Differences): void {
    const suspects = new Set<ActiveRun>();
    for (const run of this.#active.values()) {
      if (run.phase === "ending" || run.claimedAt > queriedAt) continue;
      const isIdle = isInHost(run.phase) && !this.#isExecuted(run);
      const isForeign = mine.get(run.runId)?.attempt !== run.attempt;
      if (!isIdle && !isForeign) continue;
      suspects.add(run);
      if (!this.#suspects.has(run)) continue;
      const idle = { is: "returned", blame: false, reason: "The run's graph host lost it." } as const;
      found.events.push([run, isForeign ? this.#check(run) : idle]);
    }
    this.#suspects = suspects;
  }

  /**
   * Checks the run's row again. A final one is left to the run's host, which has written it and is about to report it.
   */
  async #check(run: ActiveRun): Promise<RunEvent | undefined> {
    try {
      const row = await selectRunState(this.#o.sql, run.threadId, run.runId);
      if (run.phase === "gone" || run.phase === "ending") return undefined;
      const isOwn = row?.status === "running" && row.server_id === this.#o.serverId && row.attempt === run.attempt;
      const isFinal = row !== undefined && row.status !== "pending" && row.status !== "running";
      if (isOwn || (isFinal && this.#isExecuted(run))) return undefined;
      this.#o.log.warn({ run_id: run.runId, attempt: run.attempt }, "a run no longer belongs to this server");
      return { is: "lost" };
    } catch (error) {
      // retried at the next heartbeat
      if (!isDatabaseUnavailable(error))
        this.#o.log.error({ err: error, run_id: run.runId }, "could not reconcile a run");
      return undefined;
    }
  }

  #isExecuted(run: ActiveRun): boolean {
    return this.#o.hosts().hostOf(run.runId, run.attempt) !== undefined;
  }
}
