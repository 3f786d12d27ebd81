/**
 * Executes exports, in every process with that role: creates those that schedules have due, ends those that took too
 * long, claims and executes the others. Exports of a process that was stopped or killed are taken over when their lease
 * expires. The queue is our own: a claim must count the workspace's running exports, and lease, fence and resumption by
 * files belong to the export, so a job library would duplicate that state.
 */
import { mkdirSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";

import { uuid7 } from "../../base/ids.ts";
import { LeasedJobs } from "../../base/polling/leased-jobs.ts";
import { Poller } from "../../base/polling/poller.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import { type Attempt, type ExportDeps, temporaryFiles } from "./attempt.ts";
import { cleanUp } from "./clean-up.ts";
import { dropSnapshot, listSnapshots } from "./clickhouse.ts";
import { executeExport } from "./execute-export.ts";
import { removeLeftFiles } from "./left-files.ts";
import * as queue from "./queue-sql.ts";
import { runCredentials } from "./run-credentials.ts";
import { dueSchedules, spawnWindow } from "./schedule-sql.ts";
import { endRuns, insertExportRuns } from "./sql.ts";

const POLL_MS = 1000;
const RENEW_MS = 1000;
const TIMEOUT_HOURS = 72;
const WINDOWS_AT_ONCE = 200;
/**
 * Interval between sweeps for orphaned snapshots, in milliseconds. A younger one may belong to an attempt that has not
 * registered it yet.
 */
const SWEEP_MS = 3_600_000;

export interface ExporterOptions {
  /** Clock of schedules and timeouts. */
  now?: () => Date;
}

export class Exporter {
  readonly #deps: ExportDeps;
  readonly #now: () => Date;
  readonly #directory: string;
  readonly #jobs: LeasedJobs<queue.ClaimedExport>;
  readonly #poller: Poller;
  #stopped = false;
  #sweepAt = performance.now() + SWEEP_MS;
  #sweepFilesAt = 0;

  constructor(deps: ExportDeps, options: ExporterOptions = {}) {
    this.#deps = deps;
    this.#now = options.now ?? (() => new Date());
    // unique among the processes on the same data directory
    this.#directory = `${temporaryFiles(deps.dataDir)}/${process.pid}-${uuid7()}`;
    const { sql, settings, log } = deps;
    this.#jobs = new LeasedJobs({
      kind: "export",
      id: ({ id }) => id,
      concurrency: settings.exportConcurrency,
      leaseSeconds: settings.exportLeaseSeconds,
      renewMs: RENEW_MS,
      claim: (running) => this.#claim(running),
      renew: async (claimed) => {
        const status = await queue.renewLease(sql, claimed, settings.exportLeaseSeconds);
        return status === undefined ? "lost" : status === "RUNNING";
      },
      onLost: () => deps.metrics.leaseLost(),
      work: (claimed, signal) => this.#execute(claimed, signal),
      release: (claimed) => this.#release(claimed),
      onEnd: () => this.wake(),
      log,
    });
    const failing = "could not claim exports; will retry";
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs: POLL_MS, log: deps.log, failing });
  }

  start(): void {
    if (this.#deps.settings.exportConcurrency === 0) return;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    this.#poller.start();
  }

  /** Stops, releasing current exports at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller.stop();
    await this.#jobs.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Triggers a pass. */
  wake(): void {
    if (this.#deps.settings.exportConcurrency > 0) this.#poller.wake();
  }

  /** Resolves when the passes triggered until now have ended; the exports that they have begun may still run. */
  settled(): Promise<void> {
    return this.#poller.settled();
  }

  async #pass(): Promise<void> {
    await this.#spawn();
    await this.#timeOut();
    await this.#jobs.claim();
    await this.#sweep();
  }

  async #spawn(): Promise<void> {
    const { sql } = this.#deps;
    const due = await dueSchedules(sql, this.#now(), WINDOWS_AT_ONCE);
    for (const schedule of due) {
      await sql.begin(async (tx) => {
        const id = await spawnWindow(tx, schedule);
        if (id !== undefined) await insertExportRuns(tx, id);
      });
    }
    // one window per schedule and pass, so that a schedule that is years behind does not delay others
    if (due.length > 0) this.wake();
  }

  async #timeOut(): Promise<void> {
    await this.#deps.sql.begin(async (tx) => {
      for (const id of await queue.timeOutExports(tx, this.#now(), TIMEOUT_HOURS)) await endRuns(tx, id, "TIMEDOUT");
    });
  }

  #claim(running: number): Promise<queue.ClaimedExport | undefined> {
    const { sql, settings } = this.#deps;
    return queue.claimExport(sql, {
      limit: settings.exportWorkspaceLimit,
      // the last slot is reserved for a workspace that would otherwise wait for another's long exports
      keepsRoom: settings.exportConcurrency > 1 && running === settings.exportConcurrency - 1,
      leaseSeconds: settings.exportLeaseSeconds,
      now: this.#now(),
    });
  }

  async #execute(claimed: queue.ClaimedExport, signal: AbortSignal): Promise<void> {
    // claimed for clean-up only
    if (claimed.status !== "RUNNING") return;
    const startedAt = performance.now();
    await this.#attempt(claimed, signal, executeExport);
    const status = await queue.selectStatus(this.#deps.sql, claimed).catch(() => undefined);
    this.#deps.metrics.attempted(status ?? "RUNNING", (performance.now() - startedAt) / 1000);
  }

  /** Cleans up after an ended export. Releases one that is neither ended nor scheduled for a retry. */
  async #release(claimed: queue.ClaimedExport): Promise<void> {
    const { sql } = this.#deps;
    const status = await queue.selectStatus(sql, claimed).catch(() => undefined);
    if (status !== undefined && status !== "RUNNING") {
      await this.#attempt({ ...claimed, status }, new AbortController().signal, cleanUp);
    } else if (this.#stopped) await queue.releaseExport(sql, claimed, { pauseMs: 0 });
  }

  async #attempt(
    claimed: queue.ClaimedExport,
    signal: AbortSignal,
    work: (attempt: Attempt) => Promise<void>,
  ): Promise<void> {
    const directory = `${this.#directory}/${claimed.id}-${claimed.attempt}`;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const credentials = runCredentials(this.#deps, claimed);
    // charged to the workspace, like its queries
    const deps = { ...this.#deps, clickhouse: this.#deps.clickhouse.inBackgroundFor(claimed.tenant_id) };
    try {
      const scope = await loadScope(deps, RunScope.ofTenant(claimed.tenant_id));
      await work({ deps, claimed, scope, signal, directory, credentials });
    } finally {
      credentials.close();
      rmSync(directory, { recursive: true, force: true });
    }
  }

  async #sweep(): Promise<void> {
    if (performance.now() >= this.#sweepFilesAt) {
      this.#sweepFilesAt = performance.now() + SWEEP_MS;
      await removeLeftFiles(dirname(this.#directory), basename(this.#directory));
    }
    const { clickhouse, sql } = this.#deps;
    if (performance.now() < this.#sweepAt || clickhouse.isAsleep) return;
    this.#sweepAt = performance.now() + SWEEP_MS;
    const snapshots = await listSnapshots(clickhouse);
    const known = new Set(await queue.knownSnapshots(sql));
    for (const id of snapshots) {
      // a UUIDv7 contains its creation time
      const createdAt = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
      if (!known.has(id) && Date.now() - createdAt > SWEEP_MS) await dropSnapshot(clickhouse, id);
    }
  }
}
