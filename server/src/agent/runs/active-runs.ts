/**
 * The runs that this server has claimed and not yet ended. Every event of a run is applied to the table in phase.ts;
 * the actions are here. An action whose work ends with an event applies that event next.
 */
import { setTimeout as sleep } from "node:timers/promises";

import { untilDone } from "../../base/db/retry.ts";
import type { GraphHosts } from "../hosts/graph-hosts.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RunClaimer } from "./claim-runs.ts";
import { toLostTrace } from "./close-trace.ts";
import { type Kept, RunDispatch } from "./dispatch-run.ts";
import { RunEndings } from "./end-run.ts";
import { type Action, isWaiting, type RunEvent, TRANSITIONS } from "./phase.ts";
import type { RunCounts, RunQueueOptions } from "./queue-options.ts";
import { cancelRunRow, type CancelAction, selectRetried } from "./sql.ts";
import { type BegunRun, isResumable, toActiveRun } from "./start-run.ts";

const CANCELLED = { outcome: "cancelled" } as const;
/** Time within which a host must stop a cancelled run; after that its event loop is blocked. */
const CANCEL_PATIENCE_MS = 5000;

export class ActiveRuns {
  readonly #o: RunQueueOptions;
  readonly #runs: Map<string, ActiveRun>;
  readonly #claimer: RunClaimer;
  readonly #dispatch: RunDispatch;
  readonly #endings: RunEndings;
  /** Time at which the lease was last found lost. */
  #lostAt = Number.NEGATIVE_INFINITY;
  readonly counts: RunCounts = { started: 0, finished: 0, released: 0, lost: 0 };

  /** @param runs by their ids; only this class changes it */
  constructor(options: RunQueueOptions, runs: Map<string, ActiveRun>, claimer: RunClaimer) {
    this.#o = options;
    this.#runs = runs;
    this.#claimer = claimer;
    this.#dispatch = new RunDispatch(options);
    this.#endings = new RunEndings(options);
  }

  /** The run, if it is in this attempt here. */
  inAttempt(runId: string, attempt: number): ActiveRun | undefined {
    const run = this.#runs.get(runId);
    return run?.attempt === attempt ? run : undefined;
  }

  get #hosts(): GraphHosts {
    return this.#o.hosts();
  }

  /**
   * Begins a claimed run.
   * @param claimedAt when the claim was sent: other servers own the run if the lease was lost since
   */
  begin(row: BegunRun, claimedAt: number, kept: Kept): void {
    if (claimedAt < this.#lostAt) return;
    const earlier = this.#runs.get(row.run_id);
    if (earlier) this.apply(earlier, { is: "superseded" });
    const isKept = kept !== undefined || isResumable(row.kwargs);
    const run = toActiveRun(row, this.#o, isKept);
    run.timeout = setTimeout(() => void this.#timeOut(run), this.#o.settings.runTimeoutSecs * 1000);
    this.counts.started += 1;
    this.#runs.set(run.runId, run);
    const prepared = this.#dispatch.prepare(run, row, kept, isKept);
    this.#o.onStarted(run, row.waited);
    this.follow(run, prepared);
  }

  apply(run: ActiveRun, event: RunEvent): void {
    const step = TRANSITIONS[run.phase][event.is];
    if (step === null) return;
    const [phase, action] = step;
    run.phase = phase;
    if (phase === "gone") this.#leave(run);
    this.#actions[action](run, event as never);
  }

  /** Applies the event with which work on the run ends. */
  follow(run: ActiveRun, event: RunEvent | Promise<RunEvent | undefined>): void {
    if (event instanceof Promise) this.#endings.track(event.then((ended) => ended && this.apply(run, ended)));
    else this.apply(run, event);
  }

  /** Requests a run's cancellation. `cancelled`: it had not started; `signalled`: it will end soon, see its stream. */
  async cancel(threadId: string, runId: string, action: CancelAction, reason: string | null) {
    const retried = this.#hosts.traces ? await selectRetried(this.#o.sql, runId) : undefined;
    const { outcome } = await cancelRunRow(this.#o.sql, { runId, threadId, action, reason });
    // an earlier attempt was traced, and no later one will close its trace
    if (retried && outcome === "cancelled") this.#hosts.closeTrace(toLostTrace(retried, reason));
    if (outcome === "cancelled" || outcome === "signalled") this.afterCancel(runId, outcome === "cancelled");
    return outcome;
  }

  /** Handles a cancellation that is committed. */
  afterCancel(runId: string, wasPending: boolean): void {
    const run = this.#runs.get(runId);
    if (run) this.apply(run, { is: "cancelled" });
    else this.#o.follower.onCancelled(runId, wasPending);
  }

  async #timeOut(run: ActiveRun): Promise<void> {
    const seconds = this.#o.settings.runTimeoutSecs;
    const cancel = () => this.cancel(run.threadId, run.runId, "timeout", `The run took longer than ${seconds} s.`);
    await untilDone(cancel, () => run.phase !== "gone").catch((error: unknown) =>
      this.#o.log.error({ err: error, run_id: run.runId }, "could not end a run that exceeded its time limit"),
    );
  }

  /** Offers hosts that may be free to the runs that wait for one. */
  dispatchWaiting(): void {
    for (const run of this.#runs.values()) this.apply(run, { is: "capacity" });
  }

  /** Notes that no other server can declare this one dead before `until`, by `performance.now()`. */
  renewLease(until: number): void {
    if (this.#dispatch.renewLease(until)) this.dispatchWaiting();
  }

  /** Stops all runs because the lease was lost: other servers own them now. */
  loseAll(): void {
    this.#lostAt = performance.now();
    for (const host of this.#hosts.all) if (host.runs.size > 0) host.kill("the server lost its lease");
    for (const run of [...this.#runs.values()]) this.apply(run, { is: "lost" });
  }

  /** Lets runs finish within the grace period, ends the hosts, and returns the remaining runs without blame. */
  async stop(): Promise<void> {
    const deadline = performance.now() + this.#o.settings.shutdownGraceSecs * 1000;
    while ([...this.#runs.values()].some(({ phase }) => !isWaiting(phase)) && performance.now() < deadline)
      await sleep(20);
    // first the processes, so that nothing is running when another server takes over
    await this.#hosts.stop();
    await this.#endings.stop();
    for (const run of [...this.#runs.values()])
      this.apply(run, { is: "returned", blame: false, reason: "The server was stopped." });
    await this.#endings.settled();
  }

  /** What each action of the table does. */
  readonly #actions: { [A in Action]: (run: ActiveRun, event: never) => void } = {
    none: () => {},
    dispatch: (run) => this.apply(run, this.#dispatch.dispatch(run)),
    emit_metadata: (run) => {
      run.untouched = false;
      this.#dispatch.emitMetadata(run);
    },
    stop_in_host: (run) => {
      const host = this.#hosts.cancelRun(run.runId, "cancelled");
      if (!host) return;
      run.killTimer ??= setTimeout(() => {
        if (this.#hosts.hostOf(run.runId, run.attempt)) this.apply(run, { is: "stalled" });
      }, CANCEL_PATIENCE_MS).unref();
    },
    take_from_host: (run) => {
      const host = this.#hosts.hostOf(run.runId, run.attempt);
      // the host's own report of it, and whatever the run still writes, comes too late
      host?.runs.delete(run.runId);
      this.follow(run, this.#endings.finish(run, CANCELLED, undefined));
      host?.stopBlockedRun(run.runId);
    },
    finish: (run, { end, result }: Extract<RunEvent, { is: "ended" }>) =>
      this.follow(run, this.#endings.finish(run, end, result)),
    finish_cancelled: (run) => this.follow(run, this.#endings.finish(run, CANCELLED, undefined)),
    release: (run, { blame, reason }: Extract<RunEvent, { is: "returned" }>) => {
      this.counts.released += 1;
      this.follow(run, this.#endings.release(run, blame, reason));
    },
    conclude: (run, stored: Extract<RunEvent, { is: "stored" }>) => {
      this.counts.finished += 1;
      this.#o.onEnded(run, stored.outcome);
      this.#endings.conclude(run, stored);
      if (stored.waiting) this.#claimer.wake();
    },
    requeue: (run) => {
      // its stream stays open for the next attempt, here or on another server
      this.#o.follower.follow(run.runId, true);
      this.#claimer.wake();
    },
    lose: (run) => {
      this.counts.lost += 1;
      const host = this.#hosts.hostOf(run.runId, run.attempt);
      if (host?.runs.size === 1) host.kill("executed a run that belongs to another server now");
      this.#hosts.dropRun(run.runId);
      // readers here get its end from the database
      this.#o.keeper.drop(this.#o.streams.open(run.runId));
      this.#o.follower.follow(run.runId);
    },
  };

  #leave(run: ActiveRun): void {
    clearTimeout(run.timeout);
    clearTimeout(run.killTimer);
    if (this.#runs.get(run.runId) === run) this.#runs.delete(run.runId);
    this.#claimer.onCapacity();
  }
}
