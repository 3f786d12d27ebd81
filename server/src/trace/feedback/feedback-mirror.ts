/**
 * Copies feedback to ClickHouse, where filters and statistics over runs read it. Postgres is authoritative, and a
 * trigger records its changes. A change record is deleted once the copy is durable, so nothing is lost while either
 * database is unavailable. Copying twice is harmless, because versions only increase. Several servers may run
 * concurrently.
 *
 * The mirror also attaches feedback to its run: `run_keys` gives the project and trace, and the trace is moved to the
 * longer tier. Runs that have not arrived yet are looked up again later.
 *
 * Writers of feedback call `flush` before responding, so that filters see it.
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { findRoots, findRunKeys } from "../run-rows/clickhouse.ts";
import type { RuleCandidates } from "../rule-candidates/rule-candidates.ts";
import { insertCandidates } from "../rule-candidates/sql.ts";
import { insertFeedbackVersions } from "./clickhouse.ts";
import { extendTraces, type UpdateWriter } from "./extend-traces.ts";
import { attachFeedback, claimUnattached, deleteChanges, selectChanges } from "./mirror-sql.ts";

const INTERVAL_MS = 1000;
/** Maximum wait of a flush in milliseconds; the copying continues after it. */
const FLUSH_MS = 1000;
const BATCH = 1000;

interface MirrorDeps {
  sql: Sql;
  clickhouse: ClickHouse;
  log: Log;
  writer: UpdateWriter;
  ruleCandidates: RuleCandidates;
}

export class FeedbackMirror {
  readonly #deps: MirrorDeps;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #stopped = false;
  readonly #failure: RepeatedFailure;

  constructor(deps: MirrorDeps) {
    this.#deps = deps;
    const message = "could not copy feedback to ClickHouse; will retry";
    this.#failure = new RepeatedFailure({ log: deps.log, message });
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#pass(), INTERVAL_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#next;
    await this.#running;
  }

  /** Resolves when everything committed before the call is in ClickHouse, or after a second. Never throws. */
  async flush(): Promise<void> {
    // a plain timer: an aborted promise creates three errors with stacks
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, FLUSH_MS).unref();
      void this.#pass().then(() => {
        clearTimeout(late);
        resolve();
      });
    });
  }

  /** Runs one pass at a time. Calls during a pass share the next one. */
  #pass(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    if (!this.#running) return (this.#running = this.#work().finally(() => (this.#running = undefined)));
    return (this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#pass();
    }));
  }

  async #work(): Promise<void> {
    try {
      while (!this.#stopped && (await this.#attach()) === BATCH);
      while (!this.#stopped && (await this.#copy()) === BATCH);
      this.#failure.succeeded();
    } catch (error) {
      this.#failure.failed(error);
    }
  }

  async #attach(): Promise<number> {
    const { sql, clickhouse, writer } = this.#deps;
    const due = await claimUnattached(sql, BATCH);
    for (const tenantId of new Set(due.map((row) => row.tenant_id))) {
      const own = due.filter((row) => row.tenant_id === tenantId);
      const runs = [...new Set(own.map((row) => row.run_id))];
      const found = (await findRunKeys(clickhouse, tenantId, runs)).filter((run) => !run.deleted);
      if (found.length === 0) continue;
      const extending = new Set(own.filter((row) => row.extends_retention).map((row) => row.run_id));
      // first, because attached feedback is not processed again
      const extended = found.filter((run) => extending.has(run.id));
      await extendTraces({ clickhouse, writer }, tenantId, extended);
      const roots = await findRoots(clickhouse, tenantId, found);
      const located = found.map((run) => ({ ...run, is_root: roots.has(run.id) }));
      await attachFeedback(sql, tenantId, located);
    }
    return due.length;
  }

  async #copy(): Promise<number> {
    const { sql, clickhouse, ruleCandidates } = this.#deps;
    const changes = await selectChanges(sql, BATCH);
    if (changes.length === 0) return 0;
    await insertFeedbackVersions(clickhouse, changes);
    const candidates = await ruleCandidates.ofFeedback(clickhouse, changes);
    if (candidates.length === 0) await deleteChanges(sql, changes);
    else {
      await sql.begin(async (tx) => {
        await insertCandidates(tx, candidates);
        await deleteChanges(tx, changes);
      });
      ruleCandidates.noteRecorded(candidates.length);
    }
    return changes.length;
  }
}
