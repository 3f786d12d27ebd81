/**
 * Executes back-fills: reads the keys of a rule's matching runs in pages and enqueues them for the rule, whose matcher
 * decides about each. A back-fill continues at its cursor after a restart. A page waits while many candidates of the rule
 * are waiting, so that a back-fill of a million runs does not delay new ones.
 */
import { setTimeout as sleep } from "node:timers/promises";

import { AppError } from "../../base/errors.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import { LeasedWorker } from "../../base/polling/leased-worker.ts";
import type { TraceDeps } from "../deps.ts";
import { findRule } from "../rules/sql.ts";
import { countBackfill, readBackfillPage, selectBackfill } from "./backfill-selection.ts";
import * as rows from "./backfill-sql.ts";

const POLL_MS = 2000;
const PAGE = 2000;
const AT_ONCE = 2;
/** Candidates of the rule that may wait before the next page. */
const MAX_WAITING = 4000;
const WAIT_MS = 200;

type Result = { status: "completed" | "failed"; error: string | null } | undefined;

export class Backfiller {
  readonly #deps: TraceDeps;
  readonly #fault: FaultPoint;
  readonly #worker: LeasedWorker<rows.ClaimedBackfill, Result>;

  constructor(deps: TraceDeps, fault: FaultPoint) {
    this.#deps = deps;
    this.#fault = fault;
    const { sql, settings, log } = deps;
    const leaseSeconds = settings.ruleLeaseSeconds;
    this.#worker = new LeasedWorker<rows.ClaimedBackfill, Result>({
      kind: "backfill",
      id: ({ backfill_id }) => backfill_id,
      concurrency: settings.ruleConcurrency === 0 ? 0 : AT_ONCE,
      leaseSeconds,
      renewMs: Math.min(5000, (leaseSeconds * 1000) / 6),
      claim: () => rows.claimBackfill(sql, leaseSeconds),
      renew: async (backfill) => {
        const status = await rows.renewBackfill(sql, backfill, leaseSeconds);
        return status === undefined ? "lost" : status === "running";
      },
      work: (backfill, signal) => this.#execute(backfill, signal),
      release: (backfill, result) =>
        result ? rows.endBackfill(sql, backfill, result.status, result.error) : rows.releaseBackfill(sql, backfill),
      everyMs: POLL_MS,
      afterEndMs: 100,
      failing: "could not claim the back-fills of rules; will retry",
      log,
    });
  }

  start(): void {
    this.#worker.start();
  }

  async stop(): Promise<void> {
    await this.#worker.stop();
  }

  /** Call after a back-fill was committed. */
  wake(): void {
    this.#worker.wake();
  }

  async #execute(backfill: rows.ClaimedBackfill, signal: AbortSignal): Promise<Result> {
    const { sql, clickhouse, ruleMatcher } = this.#deps;
    try {
      const rule = await findRule(sql, backfill.tenant_id, backfill.rule_id);
      if (!rule) return undefined;
      const filters = { ...rule, from: backfill.backfill_from, to: backfill.backfill_to };
      const found = await selectBackfill(this.#deps, backfill.tenant_id, filters);
      if (!found) return { status: "completed", error: null };
      if (backfill.total === null)
        await rows.putTotal(sql, backfill, await countBackfill(clickhouse, found, "enqueued"));
      const { cursor_start_time: at, cursor_run_id: id } = backfill;
      let after = at === null || id === null ? undefined : { start_time: at, id };
      for (;;) {
        while ((await rows.countWaiting(sql, backfill, MAX_WAITING)) >= MAX_WAITING) {
          await sleep(WAIT_MS, undefined, { signal });
        }
        signal.throwIfAborted();
        const keys = await readBackfillPage(clickhouse, found, after, PAGE);
        if (keys.length === 0) return { status: "completed", error: null };
        const isOurs = await sql.begin((tx) => rows.enqueuePage(tx, backfill, keys));
        if (!isOurs) return undefined;
        ruleMatcher.wake();
        this.#fault("rule-backfill-page");
        const last = keys.at(-1)!;
        after = { start_time: last.start_time, id: last.id };
        if (keys.length < PAGE) return { status: "completed", error: null };
      }
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof AppError && error.status < 500) return { status: "failed", error: error.message };
      throw error;
    }
  }
}
