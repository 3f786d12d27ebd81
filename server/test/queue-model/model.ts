/**
 * The queue as plain data: the runs in queue order, and the effect of every call on them. Each function changes the
 * model as the database must change its rows and returns the result that the database must return.
 */
import type { CancelAction, MultitaskStrategy } from "../../src/agent/runs/sql.ts";
import type { QueueRules } from "../../src/agent/project/queue-config.ts";
import type { RunStatus } from "../../src/agent/streams/finished-run.ts";
import {
  agedRank,
  type Flow,
  flowOf,
  type Graph,
  type Hold,
  laneOf,
  limitsOf,
  type Passed,
  type Traits,
  waitingFor,
} from "./flow.ts";

export type End = RunStatus | "deleted" | "lost";

export interface ModelRun extends Traits {
  run: number;
  thread: number;
  graph: Graph;
  status: RunStatus;
  attempt: number;
  failures: number;
  /** Server that accepted it or executes it. */
  server: number;
  cancel: CancelAction | null;
  /** When it was created. All times are seconds since the beginning. */
  created: number;
  /** When it may begin: later if it is scheduled, debounced, or pausing before a retry. */
  available: number;
  /** When it first might begin; without flow control, when it was created. */
  since: number;
  /** When the first of the runs was created whose place this one took; null: it is not debounced. */
  debouncedSince: number | null;
  /** Whether a limit of waiting runs could have refused it. */
  refusable: boolean;
  /** Its own time to expiry. */
  expires: number | null;
  temporary: boolean;
  /** Whether it has written a checkpoint since its last failure. */
  progressed: boolean;
  /** Version of the slow channel that its attempt has in memory. */
  slow: number | null;
  /** null: without flow control. */
  flow: Flow | null;
  /** What has begun since it could have, in its class. */
  wait: Wait | null;
}

/** The starts that a run has had to let pass in its class. */
export interface Wait {
  rank: number;
  /** Starts by the value that takes turns. */
  passed: Record<string, number>;
  /** Those since `place` was counted. */
  total: number;
  /** Its place among the runs of its value in the class, from 1. */
  place: number;
  /** The runs before that place. Others may come from a lower class. */
  ahead: number[];
  /** Starts of its own value's younger runs. */
  younger: number;
}

/** A checkpoint. `slow`: version of a channel that several checkpoints share. */
export interface Step {
  step: number;
  run: number;
  slow: number;
  hasWrites: boolean;
}

export interface ModelThread {
  /** Metadata and configuration that runs inherit. */
  lasting: Pick<Traits, "customer" | "group" | "model">;
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
  /** Flow control, which leaves all starts to claims; null: none. */
  rules: QueueRules | null;
  now: number;
  /** Theoretical arrival time of each rate's next start. */
  rates: Map<string, number>;
  /** Keys held for waiting runs, as of the last claim. */
  holds: Hold[];
  /** What waiting runs with several keys have let pass, by lane. */
  passed: Map<string, Passed>;
  /** The lane of each value that has had to let its turn pass and keeps its place in the class. */
  places: Map<string, { lane: string; rank: number }>;
}

export interface NewModelRun extends Traits {
  run: number;
  thread: number;
  graph: Graph;
  strategy: MultitaskStrategy;
  createThread: boolean;
  /** Whether it is scheduled for later. */
  delayed: boolean;
  /** Whether it has an input, which can take the place of an earlier one. */
  input: boolean;
  /** Whether a limit of waiting runs may refuse it. */
  refusable: boolean;
  expires: number | null;
  temporary: boolean;
  server: number;
  claim: boolean;
}

export const emptyModel = (rules: QueueRules | null): Model => ({
  ...{ threads: new Map(), runs: [], servers: new Map(), ends: new Map(), rates: new Map() },
  ...{ rules, now: 0, holds: [], passed: new Map(), places: new Map() },
});

/** Seconds after which scheduled runs begin. */
export const DELAY = 30;

export const isUnfinished = ({ status }: { status: RunStatus }): boolean =>
  status === "pending" || status === "running";

export const hasWebhook = (run: number): boolean => run % 4 !== 0;

export const findRun = (m: Model, run: number): ModelRun | undefined => m.runs.find((r) => r.run === run);

const unfinished = (m: Model, thread: number): ModelRun[] =>
  m.runs.filter((r) => r.thread === thread && isUnfinished(r));

function end(m: Model, r: ModelRun, status: RunStatus): void {
  r.status = status;
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

export const isDebounced = (r: { status: RunStatus; attempt: number; debouncedSince: number | null }): boolean =>
  r.status === "pending" && r.attempt === 0 && r.debouncedSince !== null;

export function create(m: Model, n: NewModelRun) {
  const answer = {
    outcome: "created",
    claimed: false,
    fresh: true,
    cancelled: [] as number[],
    head: null as number | null,
    /** Keys of which too many runs wait. */
    full: [] as string[],
  };
  const thread = m.threads.get(n.thread);
  if (!thread && !n.createThread) return { ...answer, outcome: "no_thread" };
  if (findRun(m, n.run)) return { ...answer, outcome: "exists" };
  const debounce = n.input && !n.delayed ? m.rules?.debounce : undefined;
  const replaced = debounce ? unfinished(m, n.thread).filter(isDebounced) : [];
  const inflight = unfinished(m, n.thread).filter((r) => !replaced.includes(r));
  if (inflight.length > 0 && n.strategy === "reject") return { ...answer, outcome: "busy" };
  const traits = {
    ...{ customer: n.customer ?? thread?.lasting.customer ?? null, group: n.group ?? thread?.lasting.group ?? null },
    ...{ model: n.model ?? thread?.lasting.model ?? null, user: n.user, priority: n.priority },
  };
  const flow = flowOf(m.rules, { ...traits, graph: n.graph, expires: n.expires });
  const stops = n.strategy === "interrupt" || n.strategy === "rollback";
  if (n.refusable && flow) {
    const others = m.runs.filter((r) => !replaced.includes(r) && !(stops && r.thread === n.thread));
    answer.full = flow.waiting
      .filter(({ key, limit }) => waitingFor({ ...m, runs: others }, key) >= limit)
      .map(({ key }) => key);
    if (answer.full.length > 0) return { ...answer, outcome: "queue_full" };
  }
  let available = m.now + (n.delayed ? DELAY : 0);
  const debouncedSince = debounce ? Math.min(m.now, ...replaced.map((r) => r.debouncedSince!)) : null;
  if (debounce) available = Math.max(m.now, Math.min(m.now + debounce.seconds, debouncedSince! + debounce.longest));
  for (const r of replaced) end(m, r, "interrupted");
  answer.cancelled = replaced.map(({ run }) => run);
  if (inflight.length > 0 && n.strategy !== "enqueue" && n.strategy !== "reject") {
    answer.cancelled.push(...stop(m, n.thread, n.strategy));
  }
  const graphs = m.servers.get(n.server);
  const runnable = graphs === null || graphs?.includes(n.graph) === true;
  answer.claimed = n.claim && !flow && !n.delayed && runnable && unfinished(m, n.thread).length === 0;
  if (!thread) {
    const lasting = { customer: traits.customer, group: traits.group, model: traits.model };
    m.threads.set(n.thread, { lasting, settled: "idle", values: null, steps: [], blobs: [] });
    // as of before this call, when the runs that it replaced made the thread busy
  } else if (inflight.length + replaced.length === 0) thread.lasting.model = traits.model;
  const newest = thread?.steps.at(-1);
  answer.fresh = newest === undefined;
  if (answer.claimed && newest && !newest.hasWrites) answer.head = newest.step;
  const { run, graph, temporary, server, expires, refusable } = n;
  m.runs.push({
    ...{ run, thread: n.thread, graph, temporary, server, expires, refusable, ...traits },
    ...{ created: m.now, available, since: flow ? available : m.now, debouncedSince, flow, wait: null },
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
  return m.runs.filter(
    (r, at) => r.status === "pending" && r.available <= m.now && mayRun(m, server, r.graph) && !isBehind(m, r, at),
  );
}

/** Whether a server claims the runs of a graph: one that it lacks is left to others, as long as there are some. */
function mayRun(m: Model, server: number, graph: Graph): boolean {
  const graphs = m.servers.get(server);
  // its lease has expired
  if (graphs === undefined) return false;
  return !graphs || graphs.includes(graph) || ![...m.servers.values()].some((others) => others?.includes(graph));
}

/** Whether another run of its thread keeps a run from starting. */
const isBehind = (m: Model, r: ModelRun, at: number): boolean =>
  unfinished(m, r.thread).some(
    (o) => o.status === "running" || (m.runs.indexOf(o) < at && (o.available <= m.now || o.attempt > 0)),
  );

/** Why a run waits, as `GET /queue` tells; `key`: the one whose limit applies. */
export interface Reason {
  reason: string;
  key: string | null;
}

/** Returns, for each pending run, the reasons it may have to wait once a claim of this server has nothing more to start. */
export function reasons(m: Model, server: number): Map<number, Reason[]> {
  const named = (reason: string) => [{ reason, key: null }];
  const why = (r: ModelRun, at: number): Reason[] | undefined => {
    if (r.available > m.now) return named("starts_later");
    if (unfinished(m, r.thread).some(({ status }) => status === "running")) return named("thread_busy");
    if (isBehind(m, r, at)) return named("behind_another");
    if (![...m.servers.values()].some((graphs) => graphs?.includes(r.graph))) return named("no_server_has_graph");
    // it waits for another server, which has not looked yet
    if (!mayRun(m, server, r.graph)) return undefined;
    return r.flow ? limitsOf(m, r) : [];
  };
  const found = new Map<number, Reason[]>();
  for (const [at, r] of m.runs.entries()) {
    const reason = r.status === "pending" ? why(r, at) : undefined;
    if (reason) found.set(r.run, reason);
  }
  return found;
}

/** Starts a run, and counts the start for those that could have begun instead (`waiting`). */
export function start(m: Model, server: number, r: ModelRun, waiting: ModelRun[]): void {
  const rank = r.flow ? agedRank(m, r) : 0;
  const own = m.places.get(r.flow?.turn ?? "");
  // it had to let its turn pass, so that it costs the others none
  const isLate = own !== undefined && own.lane === laneOf(r) && own.rank === rank;
  for (const other of r.flow ? waiting.filter((o) => o !== r) : []) {
    const otherRank = agedRank(m, other);
    if (other.wait?.rank !== otherRank) other.wait = newWait(m, other, otherRank);
    if (otherRank !== rank) continue;
    const turn = r.flow!.turn ?? "";
    if (isLate && turn !== other.flow!.turn) continue;
    other.wait.passed[turn] = (other.wait.passed[turn] ?? 0) + 1;
    other.wait.total += 1;
    if (turn !== other.flow!.turn) continue;
    if (isEarlier(m, other, r)) other.wait.younger += 1;
    else if (!other.wait.ahead.includes(r.run)) other.wait.place += 1;
  }
  if (r.flow?.turn) {
    const { turn } = r.flow;
    // an older run takes the turn of its value also from those that have no room
    for (const other of m.runs) {
      if (other.status !== "pending" || other.wait?.rank !== rank || other.flow?.turn !== turn) continue;
      if (waiting.includes(other) || !isEarlier(m, r, other)) continue;
      other.wait.passed[turn] = (other.wait.passed[turn] ?? 0) + 1;
    }
    passTurn(m, r, rank, waiting);
  }
  for (const { rate, interval } of r.flow?.rates ?? []) {
    m.rates.set(rate, Math.max(m.rates.get(rate) ?? m.now, m.now) + interval);
  }
  const slow = m.threads.get(r.thread)!.steps.at(-1)?.slow ?? null;
  Object.assign(r, { status: "running", attempt: r.attempt + 1, server, slow, wait: null });
}

/**
 * A younger run takes the turn of those of its value that have no room: the one that has waited longest keeps its place,
 * the others wait for the next turns from now on.
 */
function passTurn(m: Model, r: ModelRun, rank: number, waiting: ModelRun[]): void {
  const { turn } = r.flow!;
  const full = m.runs.filter(
    (other) =>
      other !== r &&
      other.status === "pending" &&
      other.flow?.turn === turn &&
      agedRank(m, other) === rank &&
      isEarlier(m, other, r) &&
      !waiting.includes(other),
  );
  // of its thread, an older run blocks it; a lane waits with its oldest run
  const first = full
    .filter((other) => limitsOf(m, other).length > 0)
    .reduce<ModelRun | undefined>(
      (oldest, other) => (oldest && isEarlier(m, oldest, other) ? oldest : other),
      undefined,
    );
  for (const other of full) {
    const { passed } = other.wait ?? {};
    other.wait = other === first && passed ? { ...newWait(m, other, rank), passed } : null;
  }
  if (first) m.places.set(turn!, { lane: laneOf(first), rank });
  else m.places.delete(turn!);
}

/** Whether a run has waited for longer than another one. */
export const isEarlier = (m: Model, a: ModelRun, b: ModelRun): boolean =>
  a.since < b.since || (a.since === b.since && m.runs.indexOf(a) < m.runs.indexOf(b));

function newWait(m: Model, r: ModelRun, rank: number): Wait {
  const ahead = m.runs.filter(
    (o) => isEarlier(m, o, r) && o.status === "pending" && o.flow?.turn === r.flow!.turn && agedRank(m, o) <= rank,
  );
  return { rank, passed: {}, total: 0, place: ahead.length + 1, ahead: ahead.map(({ run }) => run), younger: 0 };
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
  // it is ahead of the younger runs of its value again
  for (const other of m.runs) {
    if (other.wait && r.flow && other.flow!.turn === r.flow.turn && isEarlier(m, r, other)) other.wait.place += 1;
  }
  r.available = blame && r.failures > 1 ? m.now + Math.min((r.failures - 1) * 0.5, 5) : r.created;
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

/** Time passes, and runs that have not begun in time end. */
export function timePasses(m: Model, seconds: number): void {
  m.now += seconds;
  for (const r of m.runs.slice()) {
    if (r.status === "pending" && r.attempt === 0 && deadline(r) <= m.now) cancel(m, r.run, "interrupt");
  }
}

/** The time at which a run expires unless it has begun. */
export const deadline = ({ available, flow }: Pick<ModelRun, "available" | "flow">): number =>
  available + (flow?.expiresAfter ?? Infinity);
