/**
 * Executes claimed jobs: up to a number at once, each under a lease that is renewed until the job has ended. The work
 * is aborted when the job was ended or taken over, when its lease could not be renewed for most of its duration, and
 * when the process stops. The queue itself, with its claim and its fence, belongs to the kind of job.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Log } from "../log.ts";
import { RepeatedFailure } from "../repeated-failure.ts";

export interface LeasedJobsOptions<Job, Result> {
  /** Kind of job, for messages: "export". */
  kind: string;
  id: (job: Job) => string;
  /** Jobs that this process executes at once. */
  concurrency: number;
  leaseSeconds: number;
  renewMs: number;
  /** Claims the next job. @param running number of jobs that this process executes already */
  claim: (running: number) => Promise<Job | undefined>;
  /** Renews the lease. Returns false when the job was ended, "lost" when it belongs to another process. */
  renew: (job: Job) => Promise<boolean | "lost">;
  work: (job: Job, signal: AbortSignal) => Promise<Result>;
  /** Called after the last renewal, also when the work failed; the result is then undefined. */
  release: (job: Job, result: Result | undefined) => Promise<void>;
  /** Called when a job has ended, so that another one can be claimed. */
  onEnd: () => void;
  /** Called once for a job that was taken over, or whose lease could not be renewed in time. */
  onLost?: () => void;
  log: Log;
}

/** Fraction of a lease after which a job that could not be renewed is given up, so that no other process overlaps. */
const GIVE_UP_AFTER = 0.6;

export class LeasedJobs<Job, Result = void> {
  readonly #options: LeasedJobsOptions<Job, Result>;
  readonly #running = new Map<AbortController, Promise<void>>();
  #stopped = false;

  constructor(options: LeasedJobsOptions<Job, Result>) {
    this.#options = options;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Claims and starts jobs until all slots are taken or none is left. */
  async claim(): Promise<void> {
    const { claim, concurrency, log, kind, id, onEnd } = this.#options;
    while (!this.#stopped && this.#running.size < concurrency) {
      const job = await claim(this.#running.size);
      if (job === undefined) return;
      const controller = new AbortController();
      const ended = this.#execute(job, controller)
        .catch((error: unknown) => log.error({ err: error, [kind]: id(job) }, `the work on this ${kind} failed`))
        .finally(() => {
          this.#running.delete(controller);
          onEnd();
        });
      this.#running.set(controller, ended);
    }
  }

  /** Allows claims again after a stop. */
  start(): void {
    this.#stopped = false;
  }

  /** Aborts all jobs and resolves when they are released. No other is claimed until the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const controller of this.#running.keys()) controller.abort(new Error("the process stops"));
    await Promise.all(this.#running.values());
  }

  async #execute(job: Job, controller: AbortController): Promise<void> {
    const { work, release } = this.#options;
    const ended = new AbortController();
    const renewing = this.#renew(job, controller, ended.signal);
    let result: Result | undefined;
    try {
      result = await work(job, controller.signal);
    } finally {
      ended.abort();
      await renewing;
      await release(job, result);
    }
  }

  async #renew(job: Job, controller: AbortController, ended: AbortSignal): Promise<void> {
    const { kind, id, leaseSeconds, renewMs, renew, onLost, log } = this.#options;
    const failure = new RepeatedFailure({ log, message: `the lease of this ${kind} could not be renewed` });
    let renewedAt = performance.now();
    const giveUp = (reason: string, isLost: boolean) => {
      if (isLost && !controller.signal.aborted) onLost?.();
      controller.abort(new Error(reason));
    };
    while (!ended.aborted) {
      await sleep(renewMs, undefined, { signal: ended }).catch(() => {});
      if (ended.aborted) return;
      try {
        const state = await renew(job);
        renewedAt = performance.now();
        failure.succeeded();
        if (state !== true) giveUp(`the ${kind} was ended or taken over`, state === "lost");
      } catch (error) {
        failure.failed(error, { [kind]: id(job) });
        if (performance.now() - renewedAt > leaseSeconds * 1000 * GIVE_UP_AFTER) {
          giveUp(`the lease of the ${kind} is lost`, true);
        }
      }
    }
  }
}
