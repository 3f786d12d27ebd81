/**
 * The runs that this server executes.
 *
 * The queue itself is in Postgres (migrations/postgres/functions/runs.sql): a run is pending until a server claims it,
 * running while that server's lease is valid, and final once `finish_run` has written its end. This class claims as
 * many runs as it has slots, dispatches them to graph hosts, tracks them, and writes their end. The rows are the source
 * of truth: after a crash they show what remains to be done.
 *
 *     pending --claim--> starting --run.start--> executing --run.end--> ending --row written--> final
 *        ^                  |                       ^  |
 *        |                  +-- no host --> waiting-+  |
 *        +------------ release (host died, shutdown) --+
 */
import type { RunEnd } from "../../../../graph-host/src/host-protocol.ts";
import { GroupCommit } from "../../base/db/group-commit.ts";
import { untilDone } from "../../base/db/retry.ts";
import type { GraphHost } from "../hosts/graph-host.ts";
import type { GraphHosts } from "../hosts/graph-hosts.ts";
import type { ActiveRun } from "./active-run.ts";
import { acceptOnce } from "./accept-once.ts";
import { RunClaimer } from "./claim-runs.ts";
import { toLostTrace } from "./close-trace.ts";
import { RunEndings } from "./end-run.ts";
import type { RunCounts, RunQueueOptions } from "./queue-options.ts";
import { Reconciler } from "./reconcile.ts";
import type { RunStream } from "../streams/run-streams.ts";
import { sseFrame } from "../../base/events/sse.ts";
import { sortedGroupCommit } from "../../base/db/sorted-commit.ts";
import {
  cancelRunRow,
  type CancelAction,
  type ClaimedRun,
  createRuns,
  type CreatedRun,
  type NewRun,
  notifyQueue,
  releaseRun,
  selectCancellable,
  selectRetried,
  selectRunState,
  type RunningRow,
} from "./sql.ts";
import type { KeptLength } from "../streams/sql.ts";
import { type BegunRun, isProtocolRun, isResumable, metadataOf, parseQuestions, toActiveRun } from "./start-run.ts";
import { continueStream, takeOver } from "./take-over.ts";

/** Prefix of events that are numbered in the thread's log instead of the run's stream. */
const PROTOCOL = "protocol:";
const CANCELLED = { outcome: "cancelled" } as const;
/** Time within which a host must stop a cancelled run; after that its event loop is blocked. */
const CANCEL_PATIENCE_MS = 5000;

export class RunQueue {
  readonly #o: RunQueueOptions;
  #active = new Map<string, ActiveRun>();
  #waitingForHost: ActiveRun[] = [];
  #creates: GroupCommit<NewRun, CreatedRun>;
  /** Announcements of pending runs: those of a burst share a statement. */
  readonly #notices: GroupCommit<void, void>;
  readonly #endings: RunEndings;
  readonly #reconciler: Reconciler;
  /** Creations in progress that may claim their run. */
  #creating = new Map<string, number>();
  /** Time until which no other server can declare this one dead, by `performance.now()`. */
  #leasedUntil = Number.POSITIVE_INFINITY;
  /** Time at which the lease was last found lost. */
  #lostAt = Number.NEGATIVE_INFINITY;
  #stopping = false;
  readonly #claimer: RunClaimer;
  readonly counts: RunCounts = { started: 0, finished: 0, released: 0, lost: 0 };

  constructor(options: RunQueueOptions) {
    this.#o = options;
    this.#claimer = new RunClaimer({
      ...options,
      activeCount: () => this.#active.size,
      hasHosts: () => this.#hosts.hasCapacity,
      isStopping: () => this.#stopping,
      begin: (rows, claimedAt) => this.#beginClaimed(rows, claimedAt),
    });
    this.#creates = sortedGroupCommit(
      ({ threadId }) => threadId,
      (runs) => createRuns(options.hotSql, runs, false),
    );
    this.#notices = new GroupCommit(async (calls) => {
      await notifyQueue(options.sql);
      return calls;
    });
    this.#endings = new RunEndings({
      ...options,
      counts: this.counts,
      leave: (run) => this.#drop(run),
      lose: (run) => this.#lose(run),
      holds: (run) => this.#active.get(run.runId) === run,
      wake: () => this.wake(),
    });
    this.#reconciler = new Reconciler({
      ...options,
      active: this.#active,
      isExplained: (runId, before) => this.#creating.has(runId) || this.#claimer.isClaimingSince(before),
      isExecuted: (run) => this.#findHost(run) !== undefined,
      deliverCancel: (runId) => this.onCancelNotice(runId),
      handBack: (runId, attempt) => this.#handBack(runId, attempt),
      release: (run) => this.#endings.track(this.#endings.release(run, false, "The run's graph host lost it.")),
      lose: (run) => this.#abandon(run),
    });
  }

  /** Graph hosts, which start before the queue and may exit before it. */
  get #hosts(): GraphHosts {
    return this.#o.hosts();
  }

  start(): void {
    this.#claimer.start();
  }

  get claimFailure(): RunClaimer["failure"] {
    return this.#claimer.failure;
  }

  get activeCount(): number {
    return this.#active.size;
  }

  has(runId: string): boolean {
    return this.#active.has(runId);
  }

  /** Accepts a run; starts it at once when its thread, a slot and a host are free. Idempotent. */
  async create(run: Omit<NewRun, "serverId" | "claim">): Promise<CreatedRun> {
    const claim = this.#claimer.reserve();
    const created = await this.#insert(run, claim).finally(() => claim && this.#claimer.unreserve());
    for (const runId of created.cancelled) this.#afterCancel(runId, false);
    // other servers may have a free slot, or the graph
    const elsewhere = !claim || !this.#hosts.runnable.includes(created.graph_id);
    if (created.outcome === "created" && !created.claimed) {
      if (elsewhere && !this.#o.alone()) await this.#notices.call();
      // a slot may have become free in the meantime; and a claim of the thread's next run skips it while this one is written
      else if (run.afterSeconds <= 0) this.wake();
    }
    return created;
  }

  /** Inserts a run, and begins it if it was claimed. */
  async #insert(run: Omit<NewRun, "serverId" | "claim">, claim: boolean): Promise<CreatedRun> {
    // saves a commit, and the first frame does not wait for it
    const firstFrame =
      claim && isResumable(run.kwargs) ? sseFrame(0, "metadata", metadataOf(run.runId, 1)).toString() : null;
    const row: NewRun = { ...run, serverId: this.#o.serverId, claim, firstFrame };
    const underWay = (this.#creating.get(run.runId) ?? 0) + 1;
    this.#creating.set(run.runId, underWay);
    const { sql, settings } = this.#o;
    const claimedAt = performance.now();
    const created = await acceptOnce({ sql, leaseMs: settings.leaseMs }, row, async () => {
      const grouped = await this.#creates.call(row);
      if (grouped.outcome !== "locked") return grouped;
      // another transaction holds the thread's lock: only this run waits for it
      const [alone] = await createRuns(this.#o.sql, [{ ...row, asked: grouped.run }]);
      return alone!;
    }).finally(() => this.#created(run.runId));
    if (created.outcome === "exists") this.#endings.track(this.#recoverLostClaim(run));
    if (created.claimed) {
      this.#o.fault("after-claim");
      const claimed = {
        run_id: run.runId,
        thread_id: run.threadId,
        assistant_id: run.assistantId,
        graph_id: created.graph_id,
        attempt: 1,
        failures: 0,
        kwargs: created.kwargs,
        fresh_thread: created.fresh_thread,
        cancel_action: null,
        head: created.head,
      };
      this.#begin(claimed, claimedAt, undefined, created.announced);
    } else if (run.afterSeconds > 0) this.#claimer.wakeAfter(run.afterSeconds * 1000);
    return created;
  }

  #created(runId: string): void {
    const underWay = this.#creating.get(runId)! - 1;
    if (underWay > 0) this.#creating.set(runId, underWay);
    else this.#creating.delete(runId);
  }

  /** Handles a repeated creation of an existing run: the answer that would have started it here may be lost. */
  async #recoverLostClaim({ runId, threadId }: Pick<NewRun, "runId" | "threadId">): Promise<void> {
    const row = await selectRunState(this.#o.sql, threadId, runId);
    if (row?.status === "pending") this.wake();
    const isHere = row?.status === "running" && row.server_id === this.#o.serverId;
    if (!isHere || this.#active.has(runId) || this.#creating.has(runId) || this.#claimer.isClaiming) return;
    await this.#handBack(runId, row.attempt);
  }

  /** Reconciles the rows that are running under this server with the runs that it executes. */
  onBeat(rows: RunningRow[], sentAt: number): void {
    const wasLeased = performance.now() < this.#leasedUntil;
    this.#leasedUntil = sentAt + this.#o.settings.leaseMs;
    if (this.#stopping) return;
    this.#reconciler.compare(rows, sentAt);
    if (this.#confirm(rows) || !wasLeased) this.#dispatchWaiting();
  }

  /** @returns whether a run that waited for confirmation still belongs to this server, so that it may start */
  #confirm(rows: RunningRow[]): boolean {
    let isAny = false;
    for (const { run_id: runId, attempt } of rows) {
      const run = this.#active.get(runId);
      if (!run?.unconfirmed || run.attempt !== attempt) continue;
      run.unconfirmed = false;
      isAny = true;
    }
    return isAny;
  }

  /** Handles runs that were announced to all servers. */
  onAnnounced(): void {
    this.#claimer.onAnnounced();
  }

  /** Claims pending runs now. */
  wake(): void {
    this.#claimer.wake();
  }

  /** Requests a run's cancellation. `cancelled`: it had not started; `signalled`: it will end soon, see its stream. */
  async cancel(threadId: string, runId: string, action: CancelAction, reason: string | null) {
    const retried = this.#hosts.traces ? await selectRetried(this.#o.sql, runId) : undefined;
    const { outcome } = await cancelRunRow(this.#o.sql, { runId, threadId, action, reason });
    // an earlier attempt was traced, and no later one will close its trace
    if (retried && outcome === "cancelled") this.#hosts.closeTrace(toLostTrace(retried, reason));
    if (outcome === "cancelled" || outcome === "signalled") this.#afterCancel(runId, outcome === "cancelled");
    return outcome;
  }

  /** Handles requests of other servers whose readers follow runs that are, or were, executed here. */
  onWanted(runIds: string[]): void {
    for (const runId of runIds) {
      const stream = this.#o.streams.get(runId);
      if (!stream) continue;
      this.#o.keeper.want(stream);
      const run = this.#active.get(runId);
      if (!run || run.start.hold_end) continue;
      // its end is then written with its last frames, unless the host is about to write it
      run.start.hold_end = true;
      this.#hosts.holdEnd(runId);
    }
  }

  /** Handles a cancellation announced by the database, by `cancel` or by a heartbeat. Idempotent. */
  onCancelNotice(runId: string): void {
    const run = this.#active.get(runId);
    if (!run || run.phase === "ending") return;
    if (run.phase === "starting") run.cancelled = true;
    else if (run.phase === "waiting") this.#endings.track(this.#endings.finish(run, CANCELLED, undefined));
    else this.#cancelInHost(run);
  }

  #cancelInHost(run: ActiveRun): void {
    const host = this.#hosts.cancelRun(run.runId, "cancelled");
    if (!host) return;
    run.killTimer ??= setTimeout(() => {
      if (this.#active.get(run.runId) !== run || host.runs.get(run.runId)?.attempt !== run.attempt) return;
      // the host's own report of it, and whatever the run still writes, comes too late
      host.runs.delete(run.runId);
      this.#endings.track(this.#endings.finish(run, CANCELLED, undefined));
      host.stopBlockedRun(run.runId);
    }, CANCEL_PATIENCE_MS).unref();
  }

  onHostEvent(runId: string, event: string, data: Buffer): void {
    const run = this.#active.get(runId);
    if (!run) return;
    if (event.startsWith(PROTOCOL)) this.#o.protocol.append(run, event.slice(PROTOCOL.length), data);
    else this.#o.streams.open(runId).emit(run.attempt, event, data);
  }

  /** Handles an attempt that resumes from a checkpoint: the frames up to there belong to an earlier attempt. */
  onResumed(runId: string, checkpointId: string | null): void {
    const run = this.#active.get(runId);
    const stream = run && this.#o.streams.open(runId);
    if (!run || stream?.execution?.attempt !== run.attempt) return;
    if (checkpointId !== null && stream.marks.reaches(checkpointId)) return;
    const reason = "An earlier attempt was interrupted, and some of its frames may be missing.";
    stream.markIncomplete(reason, run.attempt);
    if (isProtocolRun(run)) this.#o.protocol.markIncomplete(run, reason);
  }

  onMark(runId: string, checkpointId: string): void {
    const run = this.#active.get(runId);
    const stream = this.#o.streams.get(runId);
    if (!run || !stream) return;
    if (!isProtocolRun(run)) return stream.mark(checkpointId);
    // its events are numbered separately from the stream
    void this.#o.protocol.settled(runId).then(() => stream.mark(checkpointId));
  }

  onRunEnd(end: RunEnd, result: Buffer): void {
    const run = this.#active.get(end.run_id);
    if (!run || run.attempt !== end.attempt) return;
    const work =
      end.outcome === "fenced"
        ? Promise.resolve(this.#lose(run))
        : end.outcome === "retry"
          ? this.#endings.release(run, false, "The database was unreachable for too long.")
          : this.#endings.finish(run, end, result);
    this.#endings.track(work);
  }

  onHostExit(host: GraphHost, reason: string): void {
    if (this.#stopping) return;
    // a host exits on its own when its server was frozen, and its runs have done nothing
    const blame = !this.#hosts.wasFrozen && host.culprit === undefined;
    for (const [runId, { attempt }] of host.runs) {
      const run = this.#active.get(runId);
      if (!run || run.attempt !== attempt) continue;
      this.#o.log.warn({ run_id: runId, attempt, reason }, "the graph host of this run was lost");
      if (runId === host.culprit) {
        const error = { error: "BlockedEventLoop", message: `The graph host ${reason}.` };
        this.#endings.track(this.#endings.finish(run, { outcome: "error", error }, undefined));
      } else this.#endings.track(this.#endings.release(run, blame, `The graph host ${reason}.`));
    }
    this.#dispatchWaiting();
  }

  onCapacity(): void {
    this.#dispatchWaiting();
    this.#claimer.onCapacity();
  }

  /** Cancels all runs of the thread. Resolves when none is pending or running. */
  async stopThread(threadId: string): Promise<void> {
    const cancelled = new Set<string>();
    for (let pause = 20; ; pause = Math.min(pause * 1.5, 250)) {
      const rows = await selectCancellable(this.#o.sql, { threadId, statuses: ["pending", "running"] });
      if (rows.length === 0) return;
      // youngest first, so that none of them starts because its predecessor ended
      for (const { run_id: runId } of rows.reverse()) {
        if (cancelled.has(runId)) continue;
        await this.cancel(threadId, runId, "interrupt", "the thread is being deleted");
        cancelled.add(runId);
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** Stops all runs because the lease was lost: other servers own them now. */
  loseAll(): void {
    this.#lostAt = performance.now();
    for (const host of this.#hosts.all) if (host.runs.size > 0) host.kill("the server lost its lease");
    for (const run of [...this.#active.values()]) this.#lose(run);
  }

  #findHost(run: ActiveRun): GraphHost | undefined {
    return this.#hosts.all.find((host) => host.runs.get(run.runId)?.attempt === run.attempt);
  }

  /** Abandons a run that another server owns and may already execute. Kills its host when no other run uses it. */
  #abandon(run: ActiveRun): void {
    const host = this.#findHost(run);
    if (host?.runs.size === 1) host.kill("executed a run that belongs to another server now");
    this.#lose(run);
  }

  /** Releases a run that this server claimed by a statement whose answer was lost. */
  async #handBack(runId: string, attempt: number): Promise<void> {
    const { settings, alone, leaseSql } = this.#o;
    const { maxFailures } = settings;
    const release = { runId, attempt, blame: false, maxFailures, reason: "", notify: !alone() };
    const { outcome } = await releaseRun(leaseSql, release);
    if (outcome === "lost") return;
    this.counts.released += 1;
    // readers here follow the run through the database from now on
    if (this.#o.streams.get(runId)) this.#o.follower.follow(runId);
    this.wake();
  }

  /** Stops claiming, lets runs finish within the grace period, and releases the others without blame. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#claimer.stop();
    const deadline = performance.now() + this.#o.settings.shutdownGraceSecs * 1000;
    while (this.#active.size > this.#waitingForHost.length && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // first the processes, so that nothing is running when another server takes over
    await this.#hosts.stop();
    await this.#endings.stop();
    for (const run of [...this.#active.values()]) {
      await this.#endings
        .release(run, false, "The server was stopped.")
        .catch((error: unknown) =>
          this.#o.log.error({ err: error, run_id: run.runId }, "could not hand back a run; its lease will expire"),
        );
    }
  }

  async #beginClaimed(rows: ClaimedRun[], claimedAt: number): Promise<void> {
    if (rows.length > 0) this.#o.fault("after-claim");
    const keptLengths = await takeOver(this.#o, rows);
    for (const row of rows) this.#begin(row, claimedAt, keptLengths ? keptLengths.get(row.run_id) : "unknown");
  }

  /**
   * @param claimedAt when the claim was sent: other servers own the run if the lease was lost since
   * @param kept its stream in the database; undefined when there is no stored stream of an earlier attempt
   * @param announced whether the `metadata` frame of this attempt is stored
   */
  #begin(row: BegunRun, claimedAt: number, kept?: KeptLength | "unknown", announced = false): void {
    if (claimedAt < this.#lostAt) return;
    const { runTimeoutSecs } = this.#o.settings;
    const isKept = kept !== undefined || isResumable(row.kwargs);
    const run = toActiveRun(row, this.#o, isKept);
    run.timeout = setTimeout(() => void this.#timeOut(run), runTimeoutSecs * 1000);
    this.counts.started += 1;
    this.#active.set(run.runId, run);
    const stream = this.#o.streams.open(run.runId);
    stream.execution = { threadId: row.thread_id, attempt: row.attempt };
    this.#o.onStarted(row.thread_id);
    if (kept === "unknown") {
      this.#keepAndDispatch(run, row, stream, undefined);
      return isKept ? stream.markIncomplete("Its frames could not be stored.", row.attempt) : undefined;
    }
    if (announced) {
      run.announced = true;
      // a follower may have read the stored frame already
      if (stream.log.appended === 0) stream.emit(row.attempt, "metadata", metadataOf(run.runId, row.attempt));
      return this.#keepAndDispatch(run, row, stream, 1);
    }
    if (!kept) return this.#keepAndDispatch(run, row, stream, isKept ? 0 : undefined);
    // the frames of earlier attempts come first
    const started = continueStream(this.#o, stream, row.attempt, kept).then(
      (own) => this.#keepAndDispatch(run, row, own, kept.frames),
      () => this.#endings.release(run, false, "The frames of its earlier attempts could not be read."),
    );
    this.#endings.track(started);
  }

  /** @param stored number of frames already kept; undefined: frames are not kept */
  #keepAndDispatch(run: ActiveRun, row: ClaimedRun, stream: RunStream, stored: number | undefined): void {
    if (this.#active.get(run.runId) !== run) return;
    const execution = { threadId: row.thread_id, attempt: row.attempt };
    stream.execution = execution;
    if (stored !== undefined) this.#o.keeper.keep(stream, { ...execution, stored, held: true });
    const rejected = parseQuestions(row.kwargs)?.refused;
    if (row.cancel_action || run.cancelled) this.#endings.track(this.#endings.finish(run, CANCELLED, undefined));
    else if (rejected !== undefined) {
      const error = { error: "UnknownInterruptError", message: rejected };
      this.#announce(run);
      this.#endings.track(this.#endings.finish(run, { outcome: "refused", error }, undefined));
    } else this.#dispatch(run);
  }

  #dispatch(run: ActiveRun): void {
    try {
      if (run.graphId === null) throw new Error("The run's assistant was deleted.");
      this.#hosts.checkGraph(run.graphId);
    } catch (error) {
      const failure = { error: "GraphLoadError", message: (error as Error).message };
      this.#endings.track(this.#endings.finish(run, { outcome: "error", error: failure }, undefined));
      return;
    }
    run.phase = "executing";
    // the lease may have expired, and another server ended the run: wait for a heartbeat that still shows its row
    if (performance.now() >= this.#leasedUntil) run.unconfirmed = true;
    if (run.unconfirmed || !this.#hosts.startRun(run.start, run.kwargs, run.suspicion)) {
      run.phase = "waiting";
      return void this.#waitingForHost.push(run);
    }
    run.untouched = false;
    // sent from here, not by the host, so that the first frame waits for no process and costs no message
    this.#announce(run);
  }

  #announce(run: ActiveRun): void {
    if (run.announced) return;
    const discarded = parseQuestions(run.kwargs)?.discarded;
    this.#o.streams.open(run.runId).emit(run.attempt, "metadata", metadataOf(run.runId, run.attempt, discarded));
  }

  #dispatchWaiting(): void {
    for (const run of this.#waitingForHost.splice(0)) {
      if (this.#active.get(run.runId) === run && run.phase === "waiting") this.#dispatch(run);
    }
  }

  async #timeOut(run: ActiveRun): Promise<void> {
    const seconds = this.#o.settings.runTimeoutSecs;
    const cancel = () => this.cancel(run.threadId, run.runId, "timeout", `The run took longer than ${seconds} s.`);
    await untilDone(cancel, () => this.#active.get(run.runId) === run).catch((error: unknown) =>
      this.#o.log.error({ err: error, run_id: run.runId }, "could not end a run that exceeded its time limit"),
    );
  }

  /** Stops a run that another server owns now. Readers here get its end from the database. */
  #lose(run: ActiveRun): void {
    // a later attempt of the same run may be active here
    if (this.#active.get(run.runId) !== run) return;
    this.counts.lost += 1;
    this.#drop(run);
    this.#hosts.dropRun(run.runId);
    this.#o.keeper.drop(this.#o.streams.open(run.runId));
    this.#o.follower.follow(run.runId);
  }

  #drop(run: ActiveRun): void {
    clearTimeout(run.timeout);
    clearTimeout(run.killTimer);
    if (this.#active.get(run.runId) === run) this.#active.delete(run.runId);
    this.#claimer.onCapacity();
  }

  #afterCancel(runId: string, wasPending: boolean): void {
    if (this.#active.has(runId)) this.onCancelNotice(runId);
    else this.#o.follower.onCancelled(runId, wasPending);
  }
}
