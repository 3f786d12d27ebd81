/**
 * Processes revisions and pending creations and deletions of deployments, in the control plane that leads. Work that an
 * earlier leader left unfinished is taken over at once: its term is over, and the attempt's number fences its writes.
 */
import { identifyProcess } from "../../base/db/process-identity.ts";
import { isDatabaseUnavailable } from "../../base/db/retry.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import { uuid7 } from "../../base/ids.ts";
import { LeasedJobs } from "../../base/polling/leased-jobs.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { RepeatedFailure } from "../../base/repeated-failure.ts";
import { SAFETY_NET_MS } from "../changes/control-changes.ts";
import { selectPendingDeployments, markReady } from "../deployments/sql.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { MissingBuilds } from "./rebuild.ts";
import { removeDeployment } from "./remove-deployment.ts";
import { advance, type Pause } from "./advance.ts";
import * as queue from "./queue-sql.ts";
import type { WorkDeps } from "./work-deps.ts";

const RETRY_MS = 500;
const RENEW_MS = 500;
const AT_ONCE = 16;
const AGAIN_MS = 3_000;
const GARBAGE_MS = 60_000;
const MISSING_MS = 10_000;

export class Worker {
  readonly #deps: WorkDeps;
  readonly #jobs: LeasedJobs<queue.ClaimedRevision, Pause>;
  readonly #holder = JSON.stringify({ ...identifyProcess(process.pid), id: uuid7() });
  readonly #poller: Poller;
  #garbageAt = 0;
  readonly #missing: MissingBuilds;
  #missingAt = 0;
  /** Earliest retry of deployments whose creation or deletion has just failed. */
  readonly #notBefore = new Map<string, number>();

  constructor(deps: WorkDeps) {
    this.#deps = deps;
    this.#missing = new MissingBuilds(deps);
    this.#jobs = this.#createJobs();
    const failing = "could not claim revisions; will retry";
    const pass = () => this.#pass();
    this.#poller = new Poller({ pass, everyMs: SAFETY_NET_MS, retryMs: RETRY_MS, log: deps.log, failing });
    deps.changes.follow(["instances", "deployments", "revisions", "cluster_targets"], () => this.wake());
  }

  #createJobs(): LeasedJobs<queue.ClaimedRevision, Pause> {
    const deps = this.#deps;
    const { sql, settings, log, lead } = deps;
    const leaseSeconds = settings.revisionLeaseSeconds;
    const builds = new FairQueue({ capacity: settings.buildConcurrency });
    return new LeasedJobs({
      kind: "revision",
      id: ({ id }) => id,
      concurrency: AT_ONCE,
      leaseSeconds,
      renewMs: RENEW_MS,
      claim: () => queue.claimRevision(sql, { term: lead.term, holder: this.#holder, leaseSeconds }),
      renew: async (claimed) => {
        const status = await queue.renewLease(sql, claimed, leaseSeconds);
        return status === undefined ? "lost" : status !== "SKIPPED" && status !== "INTERRUPTED";
      },
      onLost: () => deps.countLostLease("this"),
      work: (claimed, signal) => advance(deps, claimed, signal, builds),
      // released in any case: this attempt is over
      release: async (claimed, pause = { pauseMs: 0 }) => void (await queue.release(sql, claimed, pause)),
      onEnd: () => this.wake(),
      log,
    });
  }

  /** Starts with the leader's term. */
  start(): void {
    this.#jobs.start();
    this.#missingAt = 0;
    this.#poller.start();
  }

  /** Stops, releasing work in progress at once. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    await this.#jobs.stop();
  }

  /** Failure state of the passes. */
  get failure(): RepeatedFailure {
    return this.#poller.failure;
  }

  /** Triggers a pass, if this process leads; the leader looks for work by itself. */
  wake(): void {
    if (this.#poller.isStarted) this.#poller.wake();
  }

  /** @returns milliseconds until the next pass: until the next pause of a failed step is over, or the usual time */
  async #pass(): Promise<number> {
    if (!(await this.#deps.lead.confirm())) return SAFETY_NET_MS;
    await this.#recover();
    await this.#deployments();
    if (performance.now() >= this.#missingAt) {
      this.#missingAt = performance.now() + MISSING_MS;
      await this.#missing.pass();
    }
    await this.#jobs.claim();
    if (performance.now() >= this.#garbageAt) {
      this.#garbageAt = performance.now() + GARBAGE_MS;
      await collectGarbage(this.#deps);
    }
    const again = Math.min(...this.#notBefore.values()) - performance.now();
    return Math.max(0, Math.min(SAFETY_NET_MS, again, await queue.nextPauseEnd(this.#deps.sql)));
  }

  async #recover(): Promise<void> {
    for (const lease of await queue.leasedRevisions(this.#deps.sql)) {
      if (lease.holder === this.#holder && this.#jobs.size > 0) continue;
      // each take is fenced by the attempt, and the claim that follows by the term
      if (!(await this.#deps.lead.confirm())) return;
      const status = await queue.takeFromLost(this.#deps.sql, lease);
      if (status === undefined) continue;
      this.#deps.countLostLease("other");
      const about = { revision: lease.id, deployment: lease.deployment_id };
      if (status !== lease.status)
        this.#deps.log.warn(about, `revision ${lease.number} is ${status}: its process was lost`);
    }
  }

  async #deployments(): Promise<void> {
    const { sql, databases, log } = this.#deps;
    for (const [id, at] of this.#notBefore) if (at <= performance.now()) this.#notBefore.delete(id);
    for (const deployment of await selectPendingDeployments(sql, 100)) {
      if (!(await this.#deps.lead.confirm())) return;
      if (this.#notBefore.has(deployment.id)) continue;
      try {
        if (deployment.status === "AWAITING_DELETE") await removeDeployment(this.#deps, deployment);
        else {
          await databases.ensure(deployment.id, deployment.tenant_id);
          if (await markReady(sql, deployment.id)) this.wake();
        }
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        this.#notBefore.set(deployment.id, performance.now() + AGAIN_MS);
        log.warn({ err: error, deployment: deployment.id }, "could not apply a deployment's resources yet");
      }
    }
  }
}
