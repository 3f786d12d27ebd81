/** Executes insights jobs, in every process with that role: one of a workspace at a time, under a lease. */
import { LeasedWorker } from "../../base/polling/leased-worker.ts";
import type { TraceDeps } from "../deps.ts";
import { type AfterStage, executeJob } from "./execute-job.ts";
import * as queue from "./queue-sql.ts";

const POLL_MS = 2000;
const LEASE_SECONDS = 30;
/** Attempts that fail for reasons of the platform, not of the job, before it ends. */
const MAX_FAILURES = 5;

export interface InsightWorkerOptions {
  concurrency: number;
  leaseSeconds?: number;
  afterStage?: AfterStage;
}

export class InsightWorker {
  readonly #deps: TraceDeps;
  readonly #options: InsightWorkerOptions;
  readonly #worker: LeasedWorker<queue.ClaimedJob, "ended" | "left">;
  #stopped = false;

  constructor(deps: TraceDeps, options: InsightWorkerOptions) {
    this.#deps = deps;
    this.#options = options;
    const { sql, log } = deps;
    const leaseSeconds = options.leaseSeconds ?? LEASE_SECONDS;
    this.#worker = new LeasedWorker({
      kind: "insights job",
      id: ({ id }) => id,
      concurrency: options.concurrency,
      leaseSeconds,
      renewMs: (leaseSeconds * 1000) / 10,
      claim: () => queue.claimJob(sql, leaseSeconds),
      renew: async (job) => {
        const state = await queue.renewLease(sql, job, leaseSeconds);
        return state === undefined ? "lost" : state === "running";
      },
      work: (job, signal) => this.#execute(job, signal),
      release: (job, result) => this.#release(job, result),
      everyMs: POLL_MS,
      failing: "could not claim insights jobs; will retry",
      log,
    });
  }

  start(): void {
    this.#worker.start();
  }

  /** Stops; jobs in progress are left to other processes, with what they have stored. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#worker.stop();
  }

  /** Looks for jobs at once. */
  wake(): void {
    this.#worker.wake();
  }

  async #execute(job: queue.ClaimedJob, signal: AbortSignal): Promise<"ended" | "left"> {
    // charged to the workspace, like its queries
    const deps = { ...this.#deps, clickhouse: this.#deps.clickhouse.inBackgroundFor(job.tenant_id) };
    return (await executeJob(deps, job, signal, this.#options.afterStage)) ? "ended" : "left";
  }

  async #release(job: queue.ClaimedJob, result: "ended" | "left" | undefined): Promise<void> {
    if (result === "ended") return;
    const { sql } = this.#deps;
    if (this.#stopped || result === "left") return void (await queue.releaseJob(sql, job, 0, job.failures));
    const failures = job.failures + 1;
    if (failures < MAX_FAILURES) return void (await queue.releaseJob(sql, job, 2 ** failures, failures));
    await queue.endJob(sql, job, "error", {
      reason: "failure",
      error: "The job failed repeatedly. See the server's log.",
    });
  }
}
