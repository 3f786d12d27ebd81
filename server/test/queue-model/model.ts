/**
 * The queue as plain data: the runs in queue order, and the effect of every call on them. Each function changes the
 * model as the database must change its rows and returns the result that the database must return.
 */
import type { CancelAction, MultitaskStrategy } from "../../src/agent/runs/sql.ts";
import type { RunStatus } from "../../src/agent/streams/finished-run.ts";

export type Graph = "a" | "b";
export type End = RunStatus | "deleted" | "lost";

export interface ModelRun {
  run: number;
  thread: number;
  graph: Graph;
  status: RunStatus;
  attempt: number;
  failures: number;
  /** Server that accepted it or executes it. */
  server: number;
  cancel: CancelAction | null;
  /** Not due yet: scheduled for later, or pausing before a retry. */
  delayed: boolean;
  temporary: boolean;
  /** Whether it has written a checkpoint since its last failure. */
  progressed: boolean;
  /** Version of the slow channel that its attempt has in memory. */
  slow: number | null;
}

/** A checkpoint. `slow`: version of a channel that several checkpoints share. */
export interface Step {
  step: number;
  run: number;
  slow: number;
  hasWrites: boolean;
}

export interface ModelThread {
  settled: "idle" | "interrupted" | "error";
  values: number | null;
  steps: Step[];
  /** Stored versions of channels, as `fast 3`. */
  blobs: string[];
}

export interface Model {
  threads: Map<number, ModelThread>;
  /** In queue order, without deleted runs. */
  runs: ModelRun[];
  /** Registered servers with the graphs that they can run; null: any. */
  servers: Map<number, Graph[] | null>;
  /** Final status of each run with a webhook, including deleted runs. */
  ends: Map<number, string>;
  /** Runs of a graph that may run at a time, by flow control, which leaves all starts to claims; undefined: no limit. */
  perGraph: number | undefined;
}

export interface NewModelRun {
  run: number;
  thread: number;
  graph: Graph;
  strategy: MultitaskStrategy;
  createThread: boolean;
  delayed: boolean;
  temporary: boolean;
  server: number;
  claim: boolean;
}

export const emptyModel = (perGraph?: number): Model => ({
  ...{ threads: new Map(), runs: [], servers: new Map(), ends: new Map() },
  perGraph,
});

export const isUnfinished = ({ status }: { status: RunStatus }): boolean =>
  status === "pending" || status === "running";

export const hasWebhook = (run: number): boolean => run % 4 !== 0;

export const findRun = (m: Model, run: number): ModelRun | undefined => m.runs.find((r) => r.run === run);

const unfinished = (m: Model, thread: number): ModelRun[] =>
  m.runs.filter((r) => r.thread === thread && isUnfinished(r));

function end(m: Model, r: ModelRun, status: RunStatus): void {
  r.status = status;
  r.delayed = false;
  if (hasWebhook(r.run)) m.ends.set(r.run, status);
}

/** Removes a run; one that had not ended is recorded as `rollback`. */
function remove(m: Model, r: ModelRun): void {
  if (isUnfinished(r) && hasWebhook(r.run)) m.ends.set(r.run, "rollback");
  m.runs = m.runs.filter((other) => other !== r);
}

/** Removes a run with its checkpoints, and with the blobs that become unreferenced. */
function rollBack(m: Model, r: ModelRun): void {
  const thread = m.threads.get(r.thread)!;
  const wrote = thread.steps.some((step) => step.run === r.run);
  thread.steps = thread.steps.filter((step) => step.run !== r.run);
  remove(m, r);
  // the checkpoints that a running run will write may reference blobs that no checkpoint references now
  if (wrote && !unfinished(m, r.thread).some((other) => other.status === "running")) dropBlobs(thread);
}

function dropBlobs(thread: ModelThread): void {
  const named = new Set(thread.steps.flatMap(({ step, slow }) => [`fast ${step}`, `slow ${slow}`]));
  thread.blobs = thread.blobs.filter((blob) => named.has(blob));
}

export function deleteThread(m: Model, thread: number): void {
  for (const r of m.runs.filter((run) => run.thread === thread)) remove(m, r);
  m.threads.delete(thread);
}

const strongest = (old: CancelAction | null, asked: CancelAction): CancelAction => (old === "rollback" ? old : asked);

export function create(m: Model, n: NewModelRun) {
  const answer = {
    outcome: "created",
    claimed: false,
    fresh: true,
    cancelled: [] as number[],
    head: null as number | null,
  };
  const thread = m.threads.get(n.thread);
  if (!thread && !n.createThread) return { ...answer, outcome: "no_thread" };
  if (findRun(m, n.run)) return { ...answer, outcome: "exists" };
  if (unfinished(m, n.thread).length > 0) {
    if (n.strategy === "reject") return { ...answer, outcome: "busy" };
    if (n.strategy !== "enqueue") answer.cancelled = stop(m, n.thread, n.strategy);
  }
  const graphs = m.servers.get(n.server);
  const runnable = graphs === null || graphs?.includes(n.graph) === true;
  answer.claimed =
    n.claim && m.perGraph === undefined && !n.delayed && runnable && unfinished(m, n.thread).length === 0;
  if (!thread) m.threads.set(n.thread, { settled: "idle", values: null, steps: [], blobs: [] });
  const newest = thread?.steps.at(-1);
  answer.fresh = newest === undefined;
  if (answer.claimed && newest && !newest.hasWrites) answer.head = newest.step;
  const { run, graph, delayed, temporary, server } = n;
  m.runs.push({
    ...{ run, thread: n.thread, graph, delayed, temporary, server },
    ...{ status: answer.claimed ? "running" : "pending", attempt: answer.claimed ? 1 : 0 },
    ...{ failures: 0, cancel: null, progressed: false, slow: newest?.slow ?? null },
  });
  return answer;
}

/** Applies a newer run's strategy: pending runs end, a running one is asked to stop. */
function stop(m: Model, thread: number, strategy: "interrupt" | "rollback"): number[] {
  const stopped = unfinished(m, thread);
  for (const r of stopped) {
    if (r.status === "running") r.cancel = strongest(r.cancel, strategy);
    else if (strategy === "interrupt") end(m, r, "interrupted");
    else rollBack(m, r);
  }
  return stopped.map((r) => r.run);
}

/**
 * Returns the runs that a server may claim, oldest first. A run that has not ended blocks the younger ones of its
 * thread, also while it pauses before a retry; a delayed run that never began does not.
 */
export function claimable(m: Model, server: number): ModelRun[] {
  const graphs = m.servers.get(server);
  // its lease has expired
  if (graphs === undefined) return [];
  const isLeftToOthers = (graph: Graph) =>
    graphs && !graphs.includes(graph) && [...m.servers.values()].some((others) => others?.includes(graph));
  return m.runs.filter((r, at) => {
    if (r.status !== "pending" || r.delayed || isLeftToOthers(r.graph)) return false;
    const blocks = (o: ModelRun) =>
      o.status === "running" || (m.runs.indexOf(o) < at && !(o.delayed && o.attempt === 0));
    return !unfinished(m, r.thread).some((o) => blocks(o));
  });
}

/** Returns the claimable runs that stay within the limit, the oldest first. */
export function withinLimit(m: Model, claimable: ModelRun[]): ModelRun[] {
  const { perGraph } = m;
  if (perGraph === undefined) return claimable;
  const running = { a: 0, b: 0 };
  for (const { graph, status } of m.runs) if (status === "running") running[graph] += 1;
  return claimable.filter(({ graph }) => ++running[graph] <= perGraph);
}

export function claim(m: Model, server: number, runs: number[]): void {
  for (const r of m.runs.filter(({ run }) => runs.includes(run))) {
    const slow = m.threads.get(r.thread)!.steps.at(-1)?.slow ?? null;
    Object.assign(r, { status: "running", attempt: r.attempt + 1, server, slow });
  }
}

const findAttempt = (m: Model, run: number, attempt: number): ModelRun | undefined =>
  m.runs.find((r) => r.run === run && r.attempt === attempt && r.status === "running");

export function append(m: Model, run: number, attempt: number, step: Omit<Step, "run">): boolean {
  const r = findAttempt(m, run, attempt);
  if (!r) return false;
  const thread = m.threads.get(r.thread)!;
  if (!thread.steps.some((old) => old.step === step.step)) {
    thread.steps.push({ ...step, run });
    thread.steps.sort((a, b) => a.step - b.step);
    thread.blobs.push(`fast ${step.step}`, ...(step.slow === step.step ? [`slow ${step.slow}`] : []));
  }
  r.progressed = true;
  r.slow = step.slow;
  return true;
}

export interface State {
  values: number;
  next: string[];
}

export function finish(
  m: Model,
  run: number,
  attempt: number,
  outcome: "success" | "error" | "cancelled",
  state: State | null,
): { outcome: End; waiting: boolean } {
  const r = findAttempt(m, run, attempt);
  if (!r) return { outcome: "lost", waiting: false };
  const waiting = unfinished(m, r.thread).length > 1;
  const thread = m.threads.get(r.thread)!;
  let status: End = outcome === "success" ? "success" : "error";
  if (r.cancel === "rollback") status = "deleted";
  else if (status !== "success" && r.cancel === "timeout") status = "timeout";
  else if (status !== "success" && (r.cancel === "interrupt" || outcome === "cancelled")) status = "interrupted";
  if (status === "deleted") rollBack(m, r);
  else {
    thread.settled = status === "error" || status === "timeout" ? "error" : state?.next.length ? "interrupted" : "idle";
    thread.values = state?.values ?? thread.values;
    end(m, r, status);
  }
  if (r.temporary && !waiting) deleteThread(m, r.thread);
  return { outcome: status, waiting };
}

export function release(m: Model, run: number, attempt: number, blame: boolean, maxFailures: number): End {
  const r = findAttempt(m, run, attempt);
  if (!r) return "lost";
  if (blame) {
    r.failures = r.progressed ? 1 : r.failures + 1;
    r.progressed = false;
  }
  if (r.cancel) return finish(m, run, attempt, "cancelled", null).outcome;
  if (blame && r.failures >= maxFailures) return finish(m, run, attempt, "error", null).outcome;
  r.status = "pending";
  r.delayed = blame && r.failures > 1;
  return "pending";
}

export function cancel(m: Model, run: number, action: CancelAction): string {
  const r = findRun(m, run);
  if (!r) return "not_found";
  if (!isUnfinished(r)) return "finished";
  if (r.status === "running") {
    r.cancel = strongest(r.cancel, action);
    return "signalled";
  }
  if (action === "rollback") rollBack(m, r);
  else end(m, r, "interrupted");
  if (r.temporary && unfinished(m, r.thread).length === 0) deleteThread(m, r.thread);
  return "cancelled";
}

export function deleteRun(m: Model, run: number): string {
  const r = findRun(m, run);
  if (!r) return "not_found";
  if (isUnfinished(r)) return "unfinished";
  rollBack(m, r);
  return "deleted";
}

/** @returns whether the thread exists and is idle */
export function prune(m: Model, thread: number): boolean {
  const t = m.threads.get(thread);
  if (!t || unfinished(m, thread).length > 0) return false;
  if (t.steps.length === 0) return true;
  t.steps = t.steps.slice(-1);
  dropBlobs(t);
  return true;
}

/** Sets the thread's state, which is read again after a run that could not report it. */
export function refresh(m: Model, thread: number, state: State): void {
  const t = m.threads.get(thread);
  if (!t || unfinished(m, thread).some((r) => r.status === "running")) return;
  t.values = state.values;
  if (t.settled !== "error") t.settled = state.next.length > 0 ? "interrupted" : "idle";
}

/** Returns the runs that a server must be executing. */
export const runningUnder = (m: Model, server: number) =>
  m.runs
    .filter((r) => r.status === "running" && r.server === server)
    .map(({ run, attempt, cancel: asked }) => ({ run, attempt, cancel: asked }))
    .sort((a, b) => a.run - b.run);

/** Returns the runs whose server is gone. */
export const orphans = (m: Model): ModelRun[] =>
  m.runs.filter((r) => r.status === "running" && !m.servers.has(r.server));

export function timePasses(m: Model): void {
  for (const r of m.runs) r.delayed = false;
}
