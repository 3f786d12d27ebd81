/**
 * Starts the runs of crons. `next_run_date` is the source of truth: every server polls for due crons, and `fire_cron`
 * lets one of them decide an occurrence in the same transaction as the run that it starts. The number of servers, their
 * clocks (the database's clock counts) and a killed server make no difference.
 */
import type { Sql } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import { uuid7 } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { AgentSettings } from "../settings.ts";
import { decide, readSchedule } from "./schedule.ts";
import { type DueCron, fireCron, type Firing, selectDueCrons, selectNextDueCron } from "./sql.ts";

export interface CronSchedulerOptions {
  sql: Sql;
  log: Log;
  settings: AgentSettings;
  fault: FaultPoint;
  /** Builds the run of an occurrence from the current project. */
  prepareRun(cron: DueCron, occurrence: Date): Pick<Firing, "kwargs" | "metadata" | "strategy" | "temporary">;
  /** Called after a run was created. */
  onCreated(): void;
}

/** Polling interval, because other servers create and change crons too. */
const POLL_MS = 5000;
const BATCH = 100;
const AT_ONCE = 4;

export class CronScheduler {
  readonly #o: CronSchedulerOptions;
  readonly #poller: Poller;
  #stopping = false;
  /** `passed`: too late, or the previous run was still waiting. `failed`: tries that created no run. */
  readonly counts = { created: 0, passed: 0, failed: 0 };

  constructor(options: CronSchedulerOptions) {
    this.#o = options;
    this.#poller = new Poller({
      pass: () => this.#poll(),
      everyMs: POLL_MS,
      retryMs: POLL_MS / 5,
      log: options.log,
      failing: "could not query due crons",
    });
  }

  start(): void {
    this.#poller.start();
  }

  /** Polls at once, because a cron was created or changed. */
  wake(): void {
    this.#poller.wake();
  }

  /** Resolves when the crons that were due at the last wake-up have started their runs. */
  settled(): Promise<void> {
    return this.#poller.settled();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#poller.stop();
  }

  /** @returns milliseconds until the next poll */
  async #poll(): Promise<number> {
    const due = await selectDueCrons(this.#o.sql, BATCH);
    const queue = [...due];
    let fired = false;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let cron = queue.pop(); cron && !this.#stopping; cron = queue.pop()) {
          if ((await this.#fire(cron)) === "created") fired = true;
        }
      }),
    );
    if (fired) this.#o.onCreated();
    if (due.length === BATCH) return 0;
    const next = await selectNextDueCron(this.#o.sql);
    // an overdue cron has just failed, or another server has claimed it
    return next === null ? POLL_MS : next <= 0 ? 500 : Math.min(next, POLL_MS);
  }

  async #fire(cron: DueCron): Promise<string> {
    const { sql, log, settings, fault } = this.#o;
    const { cron_id } = cron;
    const plan = this.#plan(cron);
    try {
      fault("before-cron");
      const outcome = await fireCron(sql, {
        cronId: cron_id,
        due: cron.due_text,
        skipWaiting: settings.cronSkipWaiting,
        runId: uuid7(),
        threadId: cron.thread_id ?? uuid7(),
        assistantId: cron.assistant_id,
        ...plan,
      });
      fault("after-cron");
      if (outcome === "created") this.counts.created += 1;
      else if (outcome !== "taken") {
        this.counts[plan.invalid || !["passed", "waiting"].includes(outcome) ? "failed" : "passed"] += 1;
        log.info({ cron_id, outcome }, "an occurrence of a cron created no run");
      }
      return outcome;
    } catch (error) {
      this.counts.failed += 1;
      log.error({ err: error, cron_id }, "could not create the run of a cron; will retry");
      return "failed";
    }
  }

  /**
   * Plans an occurrence. A cron that cannot be run any more must not stay due forever: its time zone was removed from
   * the tables, or its body is of another version.
   */
  #plan(cron: DueCron) {
    const { log, settings } = this.#o;
    let next: Date | null = null;
    try {
      const schedule = readSchedule(cron.schedule, cron.timezone);
      const decision = decide(schedule, { due: cron.due, endTime: cron.end_time }, cron.now, settings.cronMissed);
      next = decision.next;
      return { start: decision.start, next, invalid: false, ...this.#o.prepareRun(cron, decision.occurrence) };
    } catch (error) {
      log.error({ err: error, cron_id: cron.cron_id }, "a stored cron is invalid; its occurrence creates no run");
      return {
        start: false,
        next,
        invalid: true,
        kwargs: "{}",
        metadata: "{}",
        strategy: "enqueue" as const,
        temporary: false,
      };
    }
  }
}
