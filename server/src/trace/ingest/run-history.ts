/**
 * Determines whether a run may already exist although this process does not remember it (run-memory.ts keeps only the
 * newest). Creates are frequent and nearly always of new runs; looking each up would cost more than storing it. So
 * Bloom filters keep what matters to a late create: runs that were written in the last minutes and deletions of the last
 * days. A false positive costs a lookup; there are no false negatives.
 *
 * Earlier history is loaded when the engine is open. If the store is not embedded, other servers write too, and the answer is always
 * "maybe".
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { all, bind, ch, type Fragment, raw, render } from "../../base/clickhouse/fragment.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { BloomFilter } from "./bloom-filter.ts";

/** Longer than any client retries a create. */
const GENERATION_MS = 600_000;
/** Minutes before startup for whose runs creates may still be repeated. */
const BEFORE_MINUTES = 15;
const PAGE = 100_000;
/** Limit of two million ids: beyond that the filter is useless. */
const MAX_PAGES = 20;
/** Marks are deleted after two days (runs/delete-clickhouse.ts), and their bits with the next reload. */
const RELOAD_MS = 12 * 3_600_000;
const RETRY_MS = 5000;

const NIL = "00000000-0000-0000-0000-000000000000";

export class RunHistory {
  readonly #clickhouse: ClickHouse;
  readonly #poller: Poller;
  #stored = new BloomFilter();
  #storedBefore = new BloomFilter();
  #deleted = new BloomFilter();
  /** Filter that is being loaded. */
  #nextDeleted: BloomFilter | undefined;
  #rotateAt = performance.now() + GENERATION_MS;
  #isLoaded = false;
  #stopped = false;

  constructor({ clickhouse, log }: { clickhouse: ClickHouse; log: Log }) {
    this.#clickhouse = clickhouse;
    this.#poller = new Poller({
      pass: () => this.#load(),
      everyMs: RELOAD_MS,
      retryMs: RETRY_MS,
      log,
      failing: "could not read deletions; will retry",
    });
  }

  start(): void {
    if (!this.#clickhouse.embedded) return;
    // until then every run may exist
    void this.#clickhouse.awake.then(() => {
      if (!this.#stopped) this.#poller.start();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller.stop();
  }

  /**
   * Returns false only for a run of which nothing was written recently, and that was not deleted, so that a create of it
   * needs no lookup.
   */
  mayExist(runId: string): boolean {
    return this.mayBeDeleted(runId) || this.#stored.has(runId) || this.#storedBefore.has(runId);
  }

  /** Returns true if a run or trace may have been deleted. */
  mayBeDeleted(id: string): boolean {
    return !this.#isLoaded || this.#deleted.has(id);
  }

  /** Call before pieces of the run are stored. */
  noteWriting(runId: string): void {
    if (performance.now() > this.#rotateAt) {
      this.#rotateAt = performance.now() + GENERATION_MS;
      this.#storedBefore = this.#stored;
      this.#stored = new BloomFilter();
    }
    this.#stored.add(runId);
  }

  /** Records deletions. Call after runs have been marked: those of these traces, or all of these projects. */
  async noteDeleted({ traces, projects }: { traces?: readonly string[]; projects?: readonly string[] }): Promise<void> {
    if (!this.#clickhouse.embedded) return;
    const note = (id: string) => {
      this.#deleted.add(id);
      this.#nextDeleted?.add(id);
    };
    // runs of a deleted trace name the trace
    if (traces) for (const id of traces) note(id);
    else if (projects) await this.#read([raw("deleted"), ch`project_id in ${bind("Array(UUID)", projects)}`], note);
  }

  async #load(): Promise<void> {
    const deleted = new BloomFilter();
    this.#nextDeleted = deleted;
    await this.#read([raw("deleted")], (id) => deleted.add(id));
    if (!this.#isLoaded) {
      const recently = raw(`version > now64(6) - interval ${BEFORE_MINUTES} minute`);
      await this.#read([recently], (id) => this.#storedBefore.add(id));
    }
    this.#deleted = deleted;
    this.#nextDeleted = undefined;
    this.#isLoaded = true;
  }

  /** Reads the runs of these keys and their traces, page by page in table order. */
  async #read(conditions: Fragment[], note: (id: string) => void): Promise<void> {
    let last = { tenant_id: NIL, id: NIL };
    for (let page = 0; page < MAX_PAGES && !this.#stopped; page++) {
      const after = ch`(tenant_id, id) > (${bind("UUID", last.tenant_id)}, ${bind("UUID", last.id)})`;
      const rows = await this.#clickhouse.rows<{ tenant_id: string; id: string; trace_id: string }>({
        name: "run_keys.history",
        ...render(ch`select tenant_id, id, trace_id from run_keys where ${all([...conditions, after])}
          order by tenant_id, id limit ${bind("UInt32", PAGE)}`),
      });
      for (const { id, trace_id } of rows) {
        note(id);
        if (trace_id !== id) note(trace_id);
      }
      if (rows.length < PAGE) return;
      last = rows.at(-1)!;
    }
  }
}
