/**
 * Accepts runs, and executes as many as this server has slots.
 *
 * The queue itself is in Postgres (migrations/postgres/functions/runs.sql): a run is pending until a server claims it,
 * running while that server's lease is valid, and final once `finish_run` has written its end. The rows are the source
 * of truth: after a crash they show what remains to be done. What happens between a run's claim and its end is in
 * active-runs.ts.
 */
import type { RunEnd } from "../../../../host-kit/src/host-protocol.ts";
import { isDatabaseUnavailable } from "../../base/db/retry.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { RepeatedFailure } from "../../base/repeated-failure.ts";
import type { GraphHost } from "../hosts/graph-host.ts";
import type { ActiveRun } from "./active-run.ts";
import { ActiveRuns } from "./active-runs.ts";
import { RunAdmission, type RunToAdmit } from "./admit-run.ts";
import { type Claim, CLAIM_MS, RunClaimer } from "./claim-runs.ts";
import type { RunEvent } from "./phase.ts";
import type { RunCounts, RunQueueOptions } from "./queue-options.ts";
import { Reconciler } from "./reconcile.ts";
import { RunFrames } from "./run-frames.ts";
import { type CancelAction, type CreatedRun, releaseRun, type RunningRow, selectRunState } from "./sql.ts";
import { takeOver } from "./take-over.ts";

export class RunQueue {
  readonly #o: RunQueueOptions;
  readonly #runs: ReadonlyMap<string, ActiveRun>;
  readonly #claims: Poller;
  readonly #active: ActiveRuns;
  readonly #claimer: RunClaimer;
  readonly #admission: RunAdmission;
  readonly #reconciler: Reconciler;
  /** Receives what hosts report of runs in progress. */
  readonly frames: RunFrames;
  /** Rows that are being handed back to the queue, by run and attempt. */
  readonly #handingBack = new Set<string>();
  #stopping = false;

  constructor(options: RunQueueOptions) {
    this.#o = options;
    const { log } = options;
    this.#claims = new Poller({ pass: () => this.#claim(), everyMs: CLAIM_MS, log, failing: "could not claim runs" });
    const runs = new Map<string, ActiveRun>();
    this.#runs = runs;
    this.#claimer = new RunClaimer(options, runs, this.#claims);
    this.#active = new ActiveRuns(options, runs, this.#claimer);
    this.#admission = new RunAdmission(options);
    this.#reconciler = new Reconciler(options, runs, this.#admission, this.#claimer);
    this.frames = new RunFrames(options, runs);
  }

  start(): void {
    this.#claims.start();
  }

  /** Stops claiming, lets runs finish within the grace period, and returns the others to the queue. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#claimer.stop();
    void this.#claims.stop();
    await this.#active.stop();
  }

  get claimFailure(): RepeatedFailure {
    return this.#claims.failure;
  }

  get activeCount(): number {
    return this.#runs.size;
  }

  get counts(): RunCounts {
    return this.#active.counts;
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Accepts a run; starts it at once when its thread, a slot and a host are free. Idempotent. */
  async create(run: RunToAdmit): Promise<CreatedRun> {
    const isReserved = this.#claimer.reserve();
    const created = await this.#admit(run, isReserved).finally(() => isReserved && this.#claimer.unreserve());
    for (const runId of created.cancelled) this.#active.afterCancel(runId, false);
    if (created.outcome === "exists") void this.#recoverLostClaim(run.runId, run.threadId);
    if (created.outcome !== "created" || created.claimed) return created;
    if (run.afterSeconds > 0) this.#claimer.wake(run.afterSeconds * 1000);
    // other servers may have a free slot, or the graph
    const isElsewhere = !isReserved || !this.#o.hosts().runnable.includes(created.graph_id);
    if (isElsewhere && !this.#o.alone()) await this.#admission.announce();
    // a slot may have become free in the meantime; and a claim of the thread's next run skips it while this one is written
    else if (run.afterSeconds <= 0) this.#claimer.wake();
    return created;
  }

  /** @param isReserved whether a slot is reserved, so that the creation may claim the run */
  async #admit(run: RunToAdmit, isReserved: boolean): Promise<CreatedRun> {
    const { created, begun, claimedAt } = await this.#admission.admit(run, isReserved);
    if (begun) {
      this.#o.fault("after-claim");
      this.#active.begin(begun, claimedAt, undefined);
    }
    return created;
  }

  /** Claims pending runs now. */
  wake(): void {
    this.#claimer.wake();
  }

  /** Handles runs that were announced to all servers. */
  onAnnounced(): void {
    this.#claimer.onAnnounced();
  }

  async #claim(): Promise<number> {
    for await (const claim of this.#claimer.claims()) await this.#beginClaimed(claim);
    return this.#claimer.nextDue();
  }

  async #beginClaimed({ rows, claimedAt }: Claim): Promise<void> {
    this.#o.fault("after-claim");
    const kept = await takeOver(this.#o, rows);
    for (const row of rows) this.#active.begin(row, claimedAt, kept ? kept.get(row.run_id) : "unknown");
  }

  /** Requests a run's cancellation. `cancelled`: it had not started; `signalled`: it will end soon, see its stream. */
  cancel(threadId: string, runId: string, action: CancelAction, reason: string | null) {
    return this.#active.cancel(threadId, runId, action, reason);
  }

  /** Handles a cancellation announced by the database. Idempotent. */
  onCancelNotice(runId: string): void {
    const run = this.#runs.get(runId);
    if (run) this.#active.apply(run, { is: "cancelled" });
  }

  /** Reconciles the rows that are running under this server with the runs that it executes. */
  onBeat(rows: RunningRow[], sentAt: number): void {
    this.#active.renewLease(sentAt + this.#o.settings.leaseMs);
    if (this.#stopping) return;
    const { events, unmatched } = this.#reconciler.compare(rows, sentAt);
    for (const [run, event] of events) this.#active.follow(run, event);
    for (const { run_id: runId, attempt } of unmatched) {
      this.#o.log.warn({ run_id: runId, attempt }, "a claimed run did not start; handing it back to the queue");
      void this.#handBack(runId, attempt);
    }
  }

  /** Stops all runs because the lease was lost: other servers own them now. */
  loseAll(): void {
    this.#active.loseAll();
  }

  /** Handles a repeated creation of an existing run: the answer that would have started it here may be lost. */
  async #recoverLostClaim(runId: string, threadId: string): Promise<void> {
    const row = await selectRunState(this.#o.sql, threadId, runId).catch((error: unknown) =>
      this.#failed(error, runId),
    );
    if (row?.status === "pending") this.#claimer.wake();
    const isHere = row?.status === "running" && row.server_id === this.#o.serverId;
    if (!isHere || this.has(runId) || this.#admission.isCreating(runId) || this.#claimer.isClaiming) return;
    await this.#handBack(runId, row.attempt);
  }

  /** Releases a run that this server claimed by a statement whose answer was lost. Heartbeats repeat it. */
  async #handBack(runId: string, attempt: number): Promise<void> {
    const key = `${runId} ${attempt}`;
    if (this.#handingBack.has(key)) return;
    this.#handingBack.add(key);
    const { settings, alone, leaseSql } = this.#o;
    const { maxFailures } = settings;
    const release = { runId, attempt, blame: false, maxFailures, reason: "", notify: !alone() };
    const released = await releaseRun(leaseSql, release).catch((error: unknown) => this.#failed(error, runId));
    this.#handingBack.delete(key);
    if (!released || released.outcome === "lost") return;
    this.counts.released += 1;
    // readers here follow the run through the database from now on
    if (this.#o.streams.get(runId)) this.#o.follower.follow(runId);
    this.#claimer.wake();
  }

  #failed(error: unknown, runId: string): undefined {
    if (!isDatabaseUnavailable(error)) this.#o.log.error({ err: error, run_id: runId }, "could not reconcile a run");
  }

  onRunEnd(end: RunEnd, result: Buffer): void {
    const run = this.#active.inAttempt(end.run_id, end.attempt);
    if (run) this.#active.apply(run, toEvent(end, result));
  }

  onHostExit(host: GraphHost, reason: string): void {
    if (this.#stopping) return;
    // a host exits on its own when its server was frozen, and its runs have done nothing
    const blame = !this.#o.hosts().wasFrozen && host.culprit === undefined;
    const message = `The graph host ${reason}.`;
    for (const [runId, { attempt }] of host.runs) {
      const run = this.#active.inAttempt(runId, attempt);
      if (!run) continue;
      this.#o.log.warn({ run_id: runId, attempt, reason }, "the graph host of this run was lost");
      const error = { error: "BlockedEventLoop", message };
      if (runId === host.culprit) this.#active.apply(run, { is: "ended", end: { outcome: "error", error } });
      else this.#active.apply(run, { is: "returned", blame, reason: message });
    }
    this.#active.dispatchWaiting();
  }

  onCapacity(): void {
    this.#active.dispatchWaiting();
    this.#claimer.onCapacity();
  }
}

/** What a host's report says of the run. */
function toEvent(end: RunEnd, result: Buffer): RunEvent {
  const { outcome } = end;
  if (outcome === "fenced") return { is: "lost" };
  if (outcome === "retry")
    return { is: "returned", blame: false, reason: "The database was unreachable for too long." };
  return { is: "ended", end: { ...end, outcome }, result };
}
