/**
 * Executes the jobs of a queue in the background: claims them at an interval, when it is woken, and when one has ended,
 * and works on each under a lease. With a concurrency of 0 it does nothing, and leaves the queue to other processes.
 */
import { LeasedJobs, type LeasedJobsOptions } from "./leased-jobs.ts";
import { Poller } from "./poller.ts";

export interface LeasedWorkerOptions<Job, Result> extends Omit<LeasedJobsOptions<Job, Result>, "onEnd"> {
  /** Milliseconds between unprompted claims. */
  everyMs: number;
  /** Milliseconds until the claim that follows the end of a job. Default: 0. */
  afterEndMs?: number;
  /** Message logged when claims fail. */
  failing: string;
}

export class LeasedWorker<Job, Result = void> {
  readonly #isActive: boolean;
  readonly #jobs: LeasedJobs<Job, Result>;
  readonly #poller: Poller;

  constructor({ everyMs, afterEndMs = 0, failing, ...options }: LeasedWorkerOptions<Job, Result>) {
    this.#isActive = options.concurrency > 0;
    this.#jobs = new LeasedJobs<Job, Result>({ ...options, onEnd: () => this.#poller.wake(afterEndMs) });
    this.#poller = new Poller({ pass: () => this.#jobs.claim(), everyMs, log: options.log, failing });
  }

  /** Starts to claim jobs, also again after a stop. */
  start(): void {
    if (!this.#isActive) return;
    this.#jobs.start();
    this.#poller.start();
  }

  /** Aborts the current jobs, and resolves when they are released. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    await this.#jobs.stop();
  }

  /** Claims at once. Call after a job was committed. */
  wake(): void {
    if (this.#isActive) this.#poller.wake();
  }
}
