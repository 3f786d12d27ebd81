/**
 * The runs that this server executes.
 *
 * The queue itself is in Postgres (migrations/postgres/functions/runs.sql): a run is pending until a server claims it, running while
 * that server's lease is good, and final when `finish_run` says so. This class claims as many as it has slots,
 * hands them to graph hosts, follows them, and writes their end. It holds no truth: after a crash the rows say
 * what is to be done.
 *
 *     pending --claim--> starting --host takes it--> executing --run.end--> finishing --row written--> gone
 *        ^                                              |
 *        +------------- release (host died, shutdown) --+
 */
import type { RunEnd } from "../../../../graph-host/src/protocol.ts";
import type { GroupCommit } from "../../base/db/group-commit.ts";
import { whileAway } from "../../base/db/retry.ts";
import type { GraphHost } from "../hosts/graph-host.ts";
import type { HostPool, Suspicion } from "../hosts/host-pool.ts";
import type { ActiveRun, RunCounts, RunQueueOptions } from "./active-run.ts";
import { answerOf } from "./answer.ts";
import { traceOf } from "./close-trace.ts";
import { RunEndings } from "./end-run.ts";
import { sortedGroupCommit } from "./sorted-commit.ts";
import {
  cancelRunRow,
  type CancelAction,
  type ClaimedRun,
  claimRuns,
  createRuns,
  type CreatedRun,
  type NewRun,
  notifyQueue,
  selectCancellable,
  selectNextDue,
  selectRetried,
} from "./sql.ts";
import { takeOver } from "./take-over.ts";

const POLL_MS = 1000;
/** Events that belong to the thread's numbered ones, not to the stream of the run. */
const PROTOCOL = "protocol:";
/** How long a host may take to stop a run before it is taken for blocked. */
const CANCEL_PATIENCE_MS = 5000;

export class RunQueue {
  readonly #o: RunQueueOptions;
  #hosts!: HostPool;
  #active = new Map<string, ActiveRun>();
  #waitingForHost: ActiveRun[] = [];
  #creates: GroupCommit<NewRun, CreatedRun>;
  readonly #endings: RunEndings;
  #claiming = false;
  #claimAgain = false;
  /** Something may be left pending that only a slot or a host here was missing for. */
  #behind = false;
  #stopping = false;
  #poll: NodeJS.Timeout | undefined;
  #due: NodeJS.Timeout | undefined;
  readonly counts: RunCounts = { started: 0, finished: 0, released: 0, lost: 0 };

  constructor(options: RunQueueOptions) {
    this.#o = options;
    this.#creates = sortedGroupCommit((runs) => createRuns(options.hotSql, runs, false));
    this.#endings = new RunEndings({
      ...options,
      counts: this.counts,
      hosts: () => this.#hosts,
      leave: (run) => this.#drop(run),
      lose: (run) => this.#lose(run),
      wake: () => this.wake(),
    });
  }

  start(hosts: HostPool): void {
    this.#hosts = hosts;
    this.#poll = setInterval(() => this.wake(), POLL_MS);
    this.wake();
  }

  get activeCount(): number {
    return this.#active.size;
  }

  has(runId: string): boolean {
    return this.#active.has(runId);
  }

  /** Accepts a run; starts it at once when its thread is free and a slot and a host are. Safe to repeat. */
  async create(run: Omit<NewRun, "serverId" | "claim">): Promise<CreatedRun> {
    const claim = !this.#stopping && this.#active.size < this.#o.settings.jobs && this.#hosts.hasCapacity;
    if (!claim) this.#behind = true;
    const row: NewRun = { ...run, serverId: this.#o.serverId, claim };
    const created = await whileAway(async () => {
      const grouped = await this.#creates.call(row);
      if (grouped.outcome !== "locked") return grouped;
      // somebody holds the thread: only this run waits for it
      const [alone] = await createRuns(this.#o.sql, [row]);
      return alone!;
    });
    if (created.claimed) {
      this.#o.fault("after-claim");
      this.#begin({
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
      });
    } else if (run.afterSeconds > 0) this.#setDue(run.afterSeconds * 1000);
    for (const runId of created.cancelled) this.#afterCancel(runId);
    // others may have a slot, or the graph
    const elsewhere = !claim || !this.#hosts.runnable.includes(created.graph_id);
    if (created.outcome === "created" && !created.claimed) {
      if (elsewhere && !this.#o.alone()) await notifyQueue(this.#o.sql);
      // a slot may have become free meanwhile; and a claim of the thread's next run passes by while this one is written
      else if (run.afterSeconds <= 0) this.wake();
    }
    return created;
  }

  /** Looks for work now. */
  wake(): void {
    if (this.#stopping) return;
    if (this.#claiming) {
      this.#claimAgain = true;
      return;
    }
    this.#claiming = true;
    void this.#claim().finally(() => {
      this.#claiming = false;
      if (this.#claimAgain) {
        this.#claimAgain = false;
        this.wake();
      }
    });
  }

  /** Asks for a run's end. `cancelled`: it had not started; `signalled`: it will end soon, see its stream. */
  async cancel(threadId: string, runId: string, action: CancelAction, reason: string | null) {
    const retried = this.#hosts.traces ? await selectRetried(this.#o.sql, runId) : undefined;
    const { outcome } = await cancelRunRow(this.#o.sql, { runId, threadId, action, reason });
    // an attempt was traced, and no other comes that would end what it has begun
    if (retried && outcome === "cancelled") this.#hosts.closeTrace(traceOf(retried, reason));
    if (outcome === "cancelled" || outcome === "signalled") this.#afterCancel(runId);
    return outcome;
  }

  /** Another server has readers for a run that is, or was, executed here. */
  onWanted(runIds: string[]): void {
    for (const runId of runIds) {
      const stream = this.#o.streams.get(runId);
      if (stream) this.#o.keeper.want(stream);
    }
  }

  /** Told by the database, or by `cancel`: the row of this run wants an end. */
  onCancelNotice(runId: string): void {
    const run = this.#active.get(runId);
    if (!run) return;
    const host = this.#hosts.cancelRun(runId, "cancelled");
    if (!host) return;
    const patience = setTimeout(() => {
      if (this.#active.get(runId) === run && host.runs.get(runId)?.attempt === run.attempt) {
        host.kill("did not stop a cancelled run: something blocked its event loop");
      }
    }, CANCEL_PATIENCE_MS);
    patience.unref();
  }

  onHostEvent(runId: string, event: string, data: Buffer): void {
    const run = this.#active.get(runId);
    if (!run) return;
    if (event.startsWith(PROTOCOL)) this.#o.protocol.append(run, event.slice(PROTOCOL.length), data);
    else this.#o.streams.open(runId).append(event, data);
  }

  onRunEnd(end: RunEnd, result: Buffer): void {
    const run = this.#active.get(end.run_id);
    if (!run || run.attempt !== end.attempt) return;
    const work =
      end.outcome === "fenced"
        ? Promise.resolve(this.#lose(run))
        : end.outcome === "retry"
          ? this.#endings.release(run, false, "The database was away for too long.")
          : this.#endings.finish(run, end, result);
    this.#endings.track(work);
  }

  onHostExit(host: GraphHost, reason: string): void {
    if (this.#stopping) return;
    for (const [runId, { attempt }] of host.runs) {
      const run = this.#active.get(runId);
      if (!run || run.attempt !== attempt) continue;
      this.#o.log.warn({ run_id: runId, attempt, reason }, "a graph host was lost with this run");
      this.#endings.track(this.#endings.release(run, true, `The graph host ${reason}.`));
    }
    this.#dispatchWaiting();
  }

  onCapacity(): void {
    this.#dispatchWaiting();
    if (this.#behind) this.wake();
  }

  /** Resolves when no run of the thread is pending or running any more; asks all of them to end. */
  async stopThread(threadId: string): Promise<void> {
    for (;;) {
      const rows = await selectCancellable(this.#o.sql, { threadId, statuses: ["pending", "running"] });
      if (rows.length === 0) return;
      // the youngest first, so that none of them starts because the one before it ended
      for (const row of rows.reverse())
        await this.cancel(threadId, row.run_id, "interrupt", "the thread is being deleted");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** The lease was lost: others own these runs now. The hosts must not go on with them. */
  loseAll(): void {
    for (const host of this.#hosts.all) if (host.runs.size > 0) host.kill("the server lost its lease");
    for (const run of [...this.#active.values()]) this.#lose(run);
  }

  /** Stops claiming, lets runs finish within the grace period, hands the others back without blame. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#poll);
    clearTimeout(this.#due);
    const deadline = Date.now() + this.#o.settings.shutdownGraceSecs * 1000;
    while (this.#active.size > this.#waitingForHost.length && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // first the processes, so that nothing runs any more when another server takes over
    await this.#hosts.stop();
    await this.#endings.stop();
    for (const run of [...this.#active.values()]) {
      await this.#endings
        .release(run, false, "The server was stopped.")
        .catch((error: unknown) =>
          this.#o.log.error({ err: error, run_id: run.runId }, "a run could not be handed back; its lease will expire"),
        );
    }
  }

  async #claim(): Promise<void> {
    try {
      for (;;) {
        const free = this.#o.settings.jobs - this.#active.size;
        this.#behind = free <= 0 || !this.#hosts.hasCapacity;
        if (this.#stopping || this.#behind) return;
        const limit = Math.min(free, 32);
        const rows = await claimRuns(this.#o.sql, this.#o.serverId, limit);
        if (rows.length > 0) this.#o.fault("after-claim");
        const kept = await takeOver(this.#o, rows);
        for (const row of rows) this.#begin(row, kept.get(row.run_id));
        if (rows.length < limit) break;
      }
      const due = await selectNextDue(this.#o.sql);
      if (due !== null) this.#setDue(due);
    } catch (error) {
      // the poll comes again
      this.#o.log.debug({ err: error }, "runs could not be claimed");
    }
  }

  #setDue(ms: number): void {
    clearTimeout(this.#due);
    this.#due = setTimeout(() => this.wake(), Math.min(Math.max(ms, 1), 60_000));
    this.#due.unref();
  }

  /** @param kept frames of its stream that are in the database; undefined when there is no kept stream */
  #begin(row: ClaimedRun & Partial<Pick<CreatedRun, "head">>, kept?: number): void {
    const { runTimeoutSecs } = this.#o.settings;
    const run: ActiveRun = {
      runId: row.run_id,
      threadId: row.thread_id,
      graphId: row.graph_id,
      attempt: row.attempt,
      suspicion: suspicionOf(row.failures, this.#o.settings.maxFailures),
      start: {
        t: "run.start",
        run_id: row.run_id,
        thread_id: row.thread_id,
        assistant_id: row.assistant_id,
        graph_id: row.graph_id ?? "",
        attempt: row.attempt,
        fresh_thread: row.fresh_thread,
        ...(row.head && { head: row.head }),
        notify: !this.#o.alone(),
      },
      kwargs: row.kwargs,
      timeout: setTimeout(() => void this.#timeOut(row), runTimeoutSecs * 1000),
      claimedAt: performance.now(),
    };
    this.counts.started += 1;
    this.#active.set(run.runId, run);
    const stream = this.#o.streams.open(run.runId);
    stream.execution = { threadId: row.thread_id, attempt: row.attempt };
    this.#o.onBegun(row.thread_id);
    if (kept && !stream.keeping && stream.log.appended < kept) {
      // the frames of the attempts before come first
      const caughtUp = this.#o.follower.catchUp(stream, kept);
      this.#endings.track(caughtUp.then(() => this.#keepAndGo(run, row, kept)));
    } else this.#keepAndGo(run, row, kept);
  }

  #keepAndGo(run: ActiveRun, row: ClaimedRun, kept: number | undefined): void {
    if (this.#active.get(run.runId) !== run) return;
    const stream = this.#o.streams.open(run.runId);
    const held = isResumable(row.kwargs);
    if (held || kept !== undefined) {
      this.#o.keeper.keep(stream, { ...stream.execution!, stored: kept ?? 0, held });
    }
    if (row.cancel_action) this.#endings.track(this.#endings.finish(run, { outcome: "cancelled" }, undefined));
    else this.#dispatch(run);
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
    if (!this.#hosts.startRun(run.start, run.kwargs, run.suspicion)) return void this.#waitingForHost.push(run);
    // said here, not by the host: the first frame then does not wait for a process, and costs no message
    const attempt = { run_id: run.runId, attempt: run.attempt };
    this.#o.streams.open(run.runId).append("metadata", JSON.stringify(attempt));
  }

  #dispatchWaiting(): void {
    for (const run of this.#waitingForHost.splice(0)) {
      if (this.#active.get(run.runId) === run) this.#dispatch(run);
    }
  }

  async #timeOut(row: ClaimedRun): Promise<void> {
    const seconds = this.#o.settings.runTimeoutSecs;
    await this.cancel(row.thread_id, row.run_id, "timeout", `The run took longer than ${seconds} s.`).catch(
      (error: unknown) => this.#o.log.error({ err: error, run_id: row.run_id }, "a run could not be timed out"),
    );
  }

  /** Somebody else has this run now. Its readers here hear of its end from the database. */
  #lose(run: ActiveRun): void {
    this.counts.lost += 1;
    this.#drop(run);
    this.#hosts.dropRun(run.runId);
    this.#o.keeper.drop(this.#o.streams.open(run.runId));
    this.#o.follower.follow(run.runId);
  }

  #drop(run: ActiveRun): void {
    clearTimeout(run.timeout);
    if (this.#active.get(run.runId) === run) this.#active.delete(run.runId);
    if (this.#behind) this.wake();
  }

  /** A run that has not started is final by now; one that runs here is told. */
  #afterCancel(runId: string): void {
    if (this.#active.has(runId)) this.onCancelNotice(runId);
    else {
      const stream = this.#o.streams.get(runId);
      if (stream && !stream.outcome) {
        this.#o.streams.end(runId, {
          status: "interrupted",
          answer: answerOf("interrupted", undefined, stream.lastValues, null),
        });
      }
    }
  }
}

/** Whether clients may come back to its stream. The text is read only when the word is in it. */
const isResumable = (kwargs: string): boolean =>
  kwargs.includes('"resumable": true') && (JSON.parse(kwargs) as { resumable?: unknown }).resumable === true;

/** The last attempt of a run that has lost hosts is made where it can harm nobody and nobody can harm it. */
function suspicionOf(failures: number, maxFailures: number): Suspicion {
  if (failures === 0) return "none";
  return failures >= maxFailures - 1 ? "alone" : "apart";
}
