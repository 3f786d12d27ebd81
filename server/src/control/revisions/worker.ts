/**
 * Processes revisions and pending creations and deletions of deployments, in every control plane. Work that a process
 * left unfinished is taken over by another: at once when that process is known to be dead, otherwise when the lease
 * expires.
 */
import { setTimeout as sleep } from "node:timers/promises";

import { identifyProcess, processLives } from "../../base/db/process-identity.ts";
import { isDatabaseAway } from "../../base/db/retry.ts";
import { ConcurrencyLimit } from "../../base/concurrency-limit.ts";
import { Passes } from "../../base/jobs/passes.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { deploymentsToDo, markReady } from "../deployments/sql.ts";
import { collectGarbage } from "../runtime/collect-garbage.ts";
import { removeDeployment } from "../runtime/remove-deployment.ts";
import { advance } from "./advance.ts";
import * as queue from "./queue-sql.ts";
import type { WorkDeps } from "./work-deps.ts";

const LOOK_MS = 500;
const RENEW_MS = 500;
const AT_ONCE = 16;
const AGAIN_MS = 3_000;
const GARBAGE_MS = 60_000;

export class Worker {
  readonly #deps: WorkDeps;
  readonly #builds: ConcurrencyLimit;
  readonly #running = new Map<AbortController, Promise<void>>();
  readonly #holder = JSON.stringify(identifyProcess(process.pid));
  readonly #passes: Passes;
  #stopped = false;
  #garbageAt = 0;
  /** Earliest retry of deployments whose creation or deletion has just failed. */
  readonly #notBefore = new Map<string, number>();

  constructor(deps: WorkDeps) {
    this.#deps = deps;
    this.#builds = new ConcurrencyLimit(deps.settings.buildConcurrency);
    const failing = "could not claim revisions; will retry";
    this.#passes = new Passes({ pass: () => this.#pass(), everyMs: LOOK_MS, log: deps.log, failing });
  }

  start(): void {
    this.#passes.start();
  }

  /** Stops, releasing work in progress at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#passes.stop();
    for (const controller of this.#running.keys())
      controller.abort(new queue.NotOursError("the control plane is stopping"));
    await Promise.all(this.#running.values());
  }

  /** Failure state of the passes. */
  get failure(): RepeatedFailure {
    return this.#passes.failure;
  }

  /** Triggers a pass. */
  wake(): void {
    this.#passes.wake();
  }

  async #pass(): Promise<void> {
    try {
      await this.#recover();
      await this.#deployments();
      await this.#claim();
      if (performance.now() >= this.#garbageAt) {
        this.#garbageAt = performance.now() + GARBAGE_MS;
        await collectGarbage(this.#deps);
      }
    } finally {
      this.#deps.supervisor.wake();
    }
  }

  async #recover(): Promise<void> {
    for (const held of await queue.heldRevisions(this.#deps.sql)) {
      if (held.holder === this.#holder && this.#running.size > 0) continue;
      if (held.is_expired || isGone(held.holder)) await queue.takeFromLost(this.#deps.sql, held);
    }
  }

  async #deployments(): Promise<void> {
    const { sql, databases, log } = this.#deps;
    for (const deployment of await deploymentsToDo(sql, 100)) {
      if ((this.#notBefore.get(deployment.id) ?? 0) > performance.now()) continue;
      this.#notBefore.delete(deployment.id);
      try {
        if (deployment.status === "AWAITING_DELETE") await removeDeployment(this.#deps, deployment);
        else {
          await databases.ensure(deployment.id, deployment.tenant_id);
          if (await markReady(sql, deployment.id)) this.wake();
        }
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        this.#notBefore.set(deployment.id, performance.now() + AGAIN_MS);
        log.warn({ err: error, deployment: deployment.id }, "could not apply a deployment's resources yet");
      }
    }
  }

  async #claim(): Promise<void> {
    const { sql, settings, log } = this.#deps;
    while (!this.#stopped && this.#running.size < AT_ONCE) {
      const leaseSeconds = settings.revisionLeaseSeconds;
      const held = await queue.claimRevision(sql, { holder: this.#holder, leaseSeconds });
      if (!held) return;
      const controller = new AbortController();
      const working = this.#attempt(held, controller)
        .catch((error: unknown) => log.error({ err: error, revision: held.id }, "processing a revision failed"))
        .finally(() => {
          this.#running.delete(controller);
          this.wake();
        });
      this.#running.set(controller, working);
    }
  }

  async #attempt(held: queue.ClaimedRevision, controller: AbortController): Promise<void> {
    const over = new AbortController();
    const renewing = this.#renew(held, controller, over.signal);
    let pause: { pauseMs: number; losses?: number; message?: string } = { pauseMs: 0 };
    try {
      pause = await advance(this.#deps, held, controller.signal, this.#builds);
    } finally {
      over.abort();
      await renewing;
      // released in any case: this attempt is over
      await queue.release(this.#deps.sql, held, pause);
    }
  }

  /** Renews the lease until `over`. Aborts the work when the revision was ended or taken over, or may have been. */
  async #renew(held: queue.ClaimedRevision, work: AbortController, over: AbortSignal): Promise<void> {
    const { sql, settings, log } = this.#deps;
    const seconds = settings.revisionLeaseSeconds;
    let renewedAt = performance.now();
    const failure = new RepeatedFailure({ log, message: "could not renew the lease of a revision" });
    while (!over.aborted) {
      await sleep(RENEW_MS, undefined, { signal: over }).catch(() => {});
      if (over.aborted) return;
      try {
        const status = await queue.renewLease(sql, held, seconds);
        renewedAt = performance.now();
        failure.succeeded();
        if (status === undefined || status === "SKIPPED" || status === "INTERRUPTED") {
          work.abort(new queue.NotOursError("the revision was interrupted, or another process holds its lease"));
        }
      } catch (error) {
        failure.failed(error, { revision: held.id });
        if (performance.now() - renewedAt > seconds * 600) work.abort(new queue.NotOursError("the lease was lost"));
      }
    }
  }
}

/** Whether the holder was a process of this machine that has ended. */
function isGone(holder: string): boolean {
  const identity = JSON.parse(holder) as { pid: number; started: string };
  const boot = identifyProcess(process.pid)!.started.split("/")[0];
  return identity.started.split("/")[0] === boot && !processLives(identity);
}
