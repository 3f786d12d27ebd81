/**
 * Sweeps for what expires: threads and items past their time to live, and idempotency keys. Every server polls; a row
 * of `sweeps` lets one of them do an interval's work, and if that server dies, the next interval continues. Work is
 * done in small commits, each safe to repeat.
 */
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { deleteOldKeys } from "../idempotency/sql.ts";
import type { Project } from "../project/read-project.ts";
import type { AgentSettings } from "../settings.ts";
import { deleteExpiredItems } from "../store/sql.ts";
import type { StoreRules } from "../store/store-rules.ts";
import { defaultTtl } from "../threads/default-ttl.ts";
import { expireThreads } from "./expire-threads.ts";
import { selectWholeLists, storeChanges } from "./rewrite-lists.ts";
import { setThreadTtlDefault, takeSweep } from "./sql.ts";
import { stampThreads } from "./stamp-threads.ts";

/** Longest pause between two polls. */
const POLL_MS = 20_000;
const BATCH = 1000;
/** Threads whose lists are rewritten between two notes of the progress, and the longest time of a pass. */
const REWRITE_THREADS = 50;
const REWRITE_MS = 20_000;

export interface SweeperOptions {
  sql: Sql;
  log: Log;
  settings: AgentSettings;
  store: StoreRules;
}

export class Sweeper {
  readonly #o: SweeperOptions;
  readonly #failures = new Map<string, RepeatedFailure>();
  #threads = { minutes: 5, limit: BATCH };
  readonly #poller: Poller;
  #stopped = false;

  constructor(options: SweeperOptions) {
    this.#o = options;
    const failing = "the sweeps failed";
    this.#poller = new Poller({ pass: () => this.#sweep(), everyMs: POLL_MS, log: options.log, failing });
  }

  /** Applies the project's settings; called again after a reload. */
  async configure(project: Project): Promise<void> {
    const ttl = project.config.checkpointer?.ttl;
    this.#threads = { minutes: ttl?.sweep_interval_minutes ?? 5, limit: ttl?.sweep_limit ?? BATCH };
    await setThreadTtlDefault(this.#o.sql, defaultTtl(project));
    this.#poller.start();
  }

  /** Resolves when the current sweep is finished. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller.stop();
  }

  /** @returns milliseconds until the next sweep */
  async #sweep(): Promise<number> {
    const { sql, store } = this.#o;
    const tasks: [name: string, minutes: number, work: () => Promise<void>][] = [
      ["threads", this.#threads.minutes, () => this.#sweepThreads()],
      ["store", store.sweepMinutes, () => this.#inBatches((limit) => deleteExpiredItems(sql, limit))],
      ["whole-lists", 1, () => this.#rewriteLists()],
      [
        "idempotency-keys",
        10,
        () => this.#inBatches((limit) => deleteOldKeys(sql, this.#o.settings.idempotencyHours, limit)),
      ],
    ];
    for (const [name, minutes, work] of tasks) {
      if (this.#stopped) break;
      try {
        if (await takeSweep(sql, name, minutes * 60)) await work();
        this.#failures.get(name)?.succeeded();
      } catch (error) {
        // retried in the next interval
        if (!this.#stopped) this.#failure(name).failed(error);
      }
    }
    const shortest = Math.min(...tasks.map(([, minutes]) => minutes));
    return Math.min(POLL_MS, Math.max(shortest * 60_000, 100));
  }

  #failure(name: string): RepeatedFailure {
    const known = this.#failures.get(name);
    if (known) return known;
    const failure = new RepeatedFailure({ log: this.#o.log, message: `the sweep of ${name} failed` });
    this.#failures.set(name, failure);
    return failure;
  }

  async #sweepThreads(): Promise<void> {
    const { sql } = this.#o;
    const isStopped = () => this.#stopped;
    await stampThreads(sql, BATCH, isStopped);
    await expireThreads(sql, this.#threads.limit, isStopped);
  }

  /** Stores the long lists of threads that were written before lists were stored as changes. */
  async #rewriteLists(): Promise<void> {
    const { sql } = this.#o;
    const until = performance.now() + REWRITE_MS;
    while (!this.#stopped && performance.now() < until) {
      const [state] = await sql<{ after: string; done: boolean }[]>`select after, done from list_rewrites`;
      if (!state || state.done) return;
      const lists = await selectWholeLists(sql, state.after, REWRITE_THREADS);
      for (const list of lists) if (!this.#stopped && list.channel !== "") await storeChanges(sql, list);
      if (this.#stopped) return;
      const last = lists.at(-1)?.thread_id;
      await sql`update list_rewrites set after = ${last ?? state.after}, done = ${last === undefined}`;
    }
  }

  async #inBatches(remove: (limit: number) => Promise<number>): Promise<void> {
    while (!this.#stopped && (await remove(BATCH)) === BATCH);
  }
}
