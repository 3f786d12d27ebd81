import { LeasedWorker } from "../../base/polling/leased-worker.ts";
import type { TraceDeps } from "../deps.ts";
import { judgePairs, type Outcome } from "./judge-pairs.ts";
import * as queue from "./judge-sql.ts";

const POLL_MS = 2000;
const LEASE_SECONDS = 30;
const RENEW_MS = 5000;
/** Pause after an attempt that failed; attempts that fail in a row before the job does. */
const PAUSE_SECONDS = 30;
const MAX_ATTEMPTS = 10;

/** Works on jobs of pairwise judges: one at a time in each process, resumed by another one when it dies. */
export class PairwiseJudges {
  readonly #worker: LeasedWorker<queue.ClaimedJob, Outcome>;

  constructor(deps: TraceDeps) {
    const { sql, log } = deps;
    this.#worker = new LeasedWorker({
      kind: "pairwise judge",
      id: (job) => job.job_id,
      concurrency: 1,
      leaseSeconds: LEASE_SECONDS,
      renewMs: RENEW_MS,
      claim: () => queue.claimJob(sql, LEASE_SECONDS),
      renew: async (job) => (await queue.renewJob(sql, job, LEASE_SECONDS)) || "lost",
      async work(job, signal): Promise<Outcome> {
        try {
          return await judgePairs(deps, job, signal);
        } catch (error) {
          if (signal.aborted) return { kind: "pause", error: "" };
          log.error({ err: error, job: job.job_id }, "a pairwise judge was interrupted; it will be resumed");
          return { kind: "pause", error: "The judging was interrupted; it will be resumed." };
        }
      },
      async release(job, outcome) {
        if (outcome === undefined || (outcome.kind === "pause" && outcome.error === "")) {
          await queue.releaseJob(sql, job, 0, null);
        } else if (outcome.kind === "pause" && job.attempts + 1 < MAX_ATTEMPTS) {
          await queue.releaseJob(sql, job, PAUSE_SECONDS, outcome.error);
        } else {
          await queue.endJob(sql, job, outcome.kind === "done" ? null : outcome.error);
        }
      },
      everyMs: POLL_MS,
      failing: "could not claim pairwise judges; will retry",
      log,
    });
  }

  start(): void {
    this.#worker.start();
  }

  /** Stops, and releases the current job at once. */
  async stop(): Promise<void> {
    await this.#worker.stop();
  }

  wake(): void {
    this.#worker.wake();
  }
}
