/**
 * Deletes expired data: traces past their retention, old tokens of feedback, runs that arrived while their project was
 * being deleted, old deletion marks, and finally deleted rows still on disk. One server sweeps at a time; an interrupted
 * sweep is completed by the next.
 */
import { alone } from "../../base/db/alone.ts";
import { databaseNow } from "../../base/db/database-now.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { type EraseDeps, rewriteErased } from "../erasures/erase.ts";
import { hasOpen } from "../erasures/sql.ts";
import { deleteOldTokens } from "../feedback-tokens/sql.ts";
import { HeldError, rejectHeldProjects } from "../legal-holds/check-holds.ts";
import { applyDeletions, deleteOldMarks, hasDeletedRows } from "../runs/delete-clickhouse.ts";
import { deleteRunsOfProjects, deleteTraces } from "../runs/delete-runs.ts";
import { RunScope } from "../runs/run-scope.ts";
import type { TraceSettings } from "../settings.ts";
import { retentionCutoffs, findExpired, latest } from "./expired-traces.ts";
import { findDeletions, forgetDeletion, listTiers, SWEEP_LOCK } from "./sql.ts";

export type SweepDeps = EraseDeps & { log: Log; settings: TraceSettings };

/** Longer than any replica caches a deleted project (projects/project-directory.ts) and writes its pending runs. */
const GRACE_SECONDS = 60;
const FIRST_MS = 60_000;
/** Longest time for which sweeps leave an engine closed that no request has needed since the start, and no erasure. */
const ASLEEP_MS = 24 * 3600_000;
const PROJECTS = 500;
/** Traces found and deleted per batch. */
const TRACES = 10_000;

/** Days for which an expired feedback token returns 410; after that 404, like any unknown token. */
const TOKEN_KEEP_DAYS = 90;
/** Tokens deleted per statement. */
const TOKENS = 10_000;

const NIL = "00000000-0000-0000-0000-000000000000";

export class RetentionSweep {
  readonly #deps: SweepDeps;
  readonly #poller: Poller;
  readonly #createdAt = performance.now();
  #stopped = false;

  constructor(deps: SweepDeps) {
    this.#deps = deps;
    const { log, settings } = deps;
    const everyMs = settings.retentionSweepMinutes * 60_000;
    const failing = "the retention sweep failed; will retry";
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs, log, failing });
  }

  start(): void {
    this.#poller.start(FIRST_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller.stop();
  }

  /**
   * Runs one sweep, by the database's time by default. Resolves to the number of expired traces; 0 when another server
   * is sweeping.
   */
  async sweep(now?: number): Promise<number> {
    const { sql, clickhouse } = this.#deps;
    let expired = 0;
    await alone(sql, SWEEP_LOCK, async () => {
      await this.#deleteOldTokens();
      await this.#finishDeletions();
      const mayStayAsleep = performance.now() - this.#createdAt < ASLEEP_MS && !(await hasOpen(sql));
      if (clickhouse.isAsleep && mayStayAsleep) return;
      expired = await this.#deleteExpired(now ?? (await databaseNow(sql)).getTime());
      // before the marks expire, by which it recognizes late pieces
      await rewriteErased(this.#deps, { graceSeconds: GRACE_SECONDS, all: true });
      await deleteOldMarks(clickhouse);
      if (await hasDeletedRows(clickhouse)) await applyDeletions(clickhouse);
    });
    return expired;
  }

  async #pass(): Promise<void> {
    const expired = await this.sweep();
    if (expired > 0) this.#deps.log.info({ expired }, "deleted expired traces");
  }

  async #deleteOldTokens(): Promise<void> {
    while (!this.#stopped && (await deleteOldTokens(this.#deps.sql, TOKEN_KEEP_DAYS, TOKENS)) === TOKENS);
  }

  async #finishDeletions(): Promise<void> {
    const { sql } = this.#deps;
    for (const { tenant_id, project_id } of await findDeletions(sql, GRACE_SECONDS)) {
      if (this.#stopped) return;
      const deleted = await this.#unlessHeld(tenant_id, project_id, () =>
        deleteRunsOfProjects(this.#deps, RunScope.ofTenant(tenant_id), [project_id]),
      );
      if (deleted) await forgetDeletion(sql, tenant_id, project_id);
    }
  }

  /** Runs a batch. @returns false when a legal hold keeps what it would delete */
  async #unlessHeld(tenantId: string, projectId: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await this.#deps.deletions.batch(tenantId, (tx) => rejectHeldProjects(tx, tenantId, [projectId]), work);
      return true;
    } catch (error) {
      if (error instanceof HeldError) return false;
      throw error;
    }
  }

  async #deleteExpired(now: number): Promise<number> {
    const { sql, settings, clickhouse } = this.#deps;
    let expired = 0;
    let last = { tenant_id: NIL, project_id: NIL };
    for (;;) {
      const projects = await listTiers(sql, last, PROJECTS);
      for (const project of projects) {
        const scope = RunScope.ofTenant(project.tenant_id);
        const cutoffs = retentionCutoffs(project, settings, now);
        if (latest(cutoffs) === undefined) continue;
        for (;;) {
          if (this.#stopped) return expired;
          const traces = await findExpired(clickhouse, scope, project.project_id, cutoffs, TRACES);
          if (traces.length === 0) break;
          const deleted = await this.#unlessHeld(project.tenant_id, project.project_id, () =>
            deleteTraces(this.#deps, scope, traces, [project.project_id]),
          );
          if (!deleted) break;
          expired += traces.length;
          if (traces.length < TRACES) break;
        }
      }
      if (projects.length < PROJECTS) return expired;
      last = projects.at(-1)!;
    }
  }
}
