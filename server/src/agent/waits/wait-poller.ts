import { uuid7 } from "../../base/ids.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import { inParallel } from "../../base/in-parallel.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { fireWait, type ReadyWait, selectNextTimer, selectReadyWaits } from "./sql.ts";

export interface WaitPollerOptions {
  sql: Sql;
  log: Log;
  fault: FaultPoint;
  /** Called after a run was created. */
  onCreated(): void;
}

/** Polling interval, because hosts and other servers create waits. */
const POLL_MS = 1000;
const BATCH = 100;
const AT_ONCE = 4;

/**
 * Ends the waits of threads: creates the run that a timer or a signal resumes. Rows are the truth: every server polls,
 * and `fire_wait` lets one of them create the run, in the transaction that takes the signal.
 */
export class WaitPoller {
  readonly #o: WaitPollerOptions;
  readonly #poller: Poller;

  constructor(options: WaitPollerOptions) {
    this.#o = options;
    this.#poller = new Poller({
      pass: () => this.#poll(),
      everyMs: POLL_MS,
      log: options.log,
      failing: "could not query the waits of threads",
    });
  }

  start(): void {
    this.#poller.start();
  }

  /** Polls at once, because a signal has arrived. */
  wake(): void {
    this.#poller.wake();
  }

  stop(): Promise<void> {
    return this.#poller.stop();
  }

  /** @returns milliseconds until the next poll */
  async #poll(): Promise<number> {
    const ready = await selectReadyWaits(this.#o.sql, BATCH);
    const outcomes = await inParallel(ready, AT_ONCE, (wait) => this.#fire(wait));
    if (outcomes.includes("created")) this.#o.onCreated();
    if (ready.length === BATCH && outcomes.includes("created")) return 0;
    const next = await selectNextTimer(this.#o.sql);
    // one that is overdue has just failed, or another server has it
    return next === null || next <= 0 ? POLL_MS : Math.min(next, POLL_MS);
  }

  async #fire(wait: ReadyWait): Promise<string> {
    const { sql, log, fault } = this.#o;
    try {
      fault("before-wait");
      const outcome = await fireWait(sql, wait, uuid7());
      fault("after-wait");
      if (REFUSED.has(outcome)) log.warn({ ...wait, outcome }, "the run that ends a wait was refused");
      return outcome;
    } catch (error) {
      log.error({ err: error, ...wait }, "could not create the run that ends a wait; will retry");
      return "failed";
    }
  }
}

/** Outcomes of accept_run that no retry changes. */
const REFUSED = new Set(["no_assistant", "unknown_interrupt"]);
