/**
 * Executes experiments, in every process with that role: claims them under a lease and executes their rows. Experiments
 * of a process that was stopped, killed or frozen are resumed by another one when their lease expires.
 */
import { LeasedWorker } from "../../base/polling/leased-worker.ts";
import type { TraceDeps } from "../deps.ts";
import { executeExperiment, type Execution } from "./execute-experiment.ts";
import * as queue from "./queue-sql.ts";
import { storeSums } from "./sql.ts";

const POLL_MS = 1000;
const RENEW_MS = 1000;
/** Pause after an execution that failed on our side, such as a store that is away. */
const PAUSE_SECONDS = 10;

export class ExperimentRunner {
  readonly #deps: TraceDeps;
  readonly #worker: LeasedWorker<queue.ClaimedJob, Execution | "pause" | undefined>;

  constructor(deps: TraceDeps) {
    this.#deps = deps;
    const { sql, settings, log } = deps;
    const leaseSeconds = settings.experimentLeaseSeconds;
    const concurrency = settings.experimentConcurrency;
    this.#worker = new LeasedWorker({
      kind: "experiment",
      id: (job) => job.project_id,
      concurrency,
      leaseSeconds,
      renewMs: RENEW_MS,
      // the last slot is reserved for a workspace that would otherwise wait for another's long experiments
      claim: (running) =>
        queue.claimJob(sql, { leaseSeconds, keepsRoom: concurrency > 1 && running === concurrency - 1 }),
      renew: async (job) => {
        const status = await queue.renewLease(sql, job, leaseSeconds);
        return status === undefined ? "lost" : status === "running";
      },
      work: (job, signal) => this.#execute(job, signal),
      release: async (job, result) => {
        if (result === "pause") await queue.releaseJob(sql, job, PAUSE_SECONDS);
        else if (result) await queue.endJob(sql, job, result.event, result.reason);
        else await queue.releaseJob(sql, job, 0);
        await storeSums(sql, job);
      },
      everyMs: POLL_MS,
      failing: "could not claim experiments; will retry",
      log,
    });
  }

  async #execute(job: queue.ClaimedJob, signal: AbortSignal): Promise<Execution | "pause" | undefined> {
    try {
      return await executeExperiment(this.#deps, job, signal);
    } catch (error) {
      // cancelled, taken over, or this process stops
      if (signal.aborted) return undefined;
      this.#deps.log.error(
        { err: error, experiment: job.project_id },
        "an experiment was interrupted; it will be resumed",
      );
      return "pause";
    }
  }

  start(): void {
    this.#worker.start();
  }

  /** Stops, and releases the current experiments at once. */
  async stop(): Promise<void> {
    await this.#worker.stop();
  }

  /** Triggers a claim, also in a process that executes none. */
  wake(): void {
    this.#worker.wake();
  }
}
