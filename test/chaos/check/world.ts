/**
 * The checker's input as plain data: the clients' observations, the faults, the effects of graphs and the contents of
 * the tables. All times are ms of the machine's monotonic clock.
 */
export interface World {
  operations: Operation[];
  faults: FaultEvent[];
  /** Periods without a fault in which all processes were ready. */
  calms: Window[];
  health: HealthSample[];
  exits: Exit[];
  hooks: Hook[];
  ledger: LedgerLine[];
  runs: RunRow[];
  threads: ThreadView[];
  checkpoints: CheckpointRow[];
  streams: KeptStream[];
  /** Time at which reading the tables began. `settledAt`: when no run was pending or running any more, if reached. */
  end: number;
  settledAt?: number;
}

export interface Window {
  from: number;
  to: number;
}

export interface Operation {
  id: number;
  name: OperationName;
  invoked: number;
  ended?: number;
  /** `fail`: rejected without effect. `unknown`: no answer, so it may have taken effect. */
  outcome: "open" | "ok" | "fail" | "unknown";
  server?: string;
  thread?: string;
  run?: string;
  /** Time at which the client learned the run's id; the run counts as acknowledged from then on. */
  accepted?: number;
  status?: number;
  error?: string;
  /** Token of the run or the state update. */
  token?: string;
  steps?: number;
  graph?: string;
  mode?: string;
  strategy?: string;
  key?: string;
  webhook?: boolean;
  action?: "interrupt" | "rollback";
  answer?: string;
  named?: boolean;
  reader?: string;
  resumable?: boolean;
  frames?: Frame[];
  /** End of a stream: closed by the server, broken, or left by the reader. */
  closed?: "whole" | "broken" | "left";
  cron?: string;
  /** Waits of a run of the graph `waits`, and how many of them only a signal ends. */
  waits?: number;
  signals?: number;
  /** Payload of a signal: its number on the thread. */
  signal?: number;
  /** Whether the answer says that the signal was created. */
  created?: boolean;
  /** State returned to a waiting client. */
  done?: string[];
}

export type OperationName =
  | "thread.create"
  | "thread.delete"
  | "run.create"
  | "stream.read"
  | "run.cancel"
  | "state.update"
  | "signal.send"
  | "cron.create"
  | "cron.delete";

export interface Frame {
  id?: string;
  event: string;
  /** JSON text. */
  data: string;
}

export interface FaultEvent {
  id: number;
  kind: string;
  target: string;
  begin: number;
  /** Time at which the cause was removed; the affected process recovers until `end`. */
  healing?: number;
  end?: number;
  /** Processes that the fault froze or killed. */
  pids?: number[];
  detail?: string;
}

export interface HealthSample {
  sent: number;
  /** Time at which the answer arrived or the timeout expired. */
  t: number;
  server: string;
  endpoint: "/ok" | "/ready";
  /** 0 means no answer. */
  status: number;
  /** Body of an answer other than 200, or the reason for its absence. */
  detail?: string;
}

export interface Exit {
  t: number;
  server: string;
  how: string;
  log: string;
}

export interface Hook {
  t: number;
  id: string;
  run: string;
  status: string;
  answered: number;
}

export interface LedgerLine {
  t: number;
  run: string;
  thread: string;
  attempt: number;
  pid: number;
  phase: "start" | "effect" | "used" | "end" | "ask" | "answer" | "wait" | "woken";
  token: string;
  step?: number;
  execution?: string;
  /** Idempotency key of an effect, and of the result that was used. */
  key?: string;
  seen?: number;
  last?: string | null;
  frames?: number;
  question?: number;
  wait?: number;
  /** Time at which the wait's timer ends. */
  until?: number;
  /** To the question, or of the wait: `<n>:timer` or `<n>:signal:<payload>`. */
  answer?: string;
}

export interface RunRow {
  run: string;
  thread: string;
  seq: number;
  status: string;
  attempt: number;
  error: string | null;
  token: string | null;
  key: string | null;
  cron: string | null;
  occurrence: string | null;
  /** `timer` or the name of the signal that created the run. */
  resumedBy: string | null;
  created: number;
  started: number | null;
  ended: number | null;
  /** Whether the run reports missing frames. */
  streamIncomplete: boolean;
}

export interface CheckpointRow {
  thread: string;
  ns: string;
  id: string;
  parent: string | null;
  run: string | null;
}

export interface KeptStream {
  run: string;
  frames: Frame[];
  status: string | null;
}

export interface ThreadView {
  thread: string;
  /** Number of rows, in any table, that name the thread. */
  rows: number;
  /** Status of GET /threads/{id}. */
  answer: number;
  status?: string;
  done?: string[];
  answers?: string[];
  /** Ends of waits. */
  ended?: string[];
  /** Checkpoint of `/state`, and ids of `/history`, newest first. */
  head?: string | null;
  history?: string[];
  /** The official saver's newest checkpoint. */
  saverHead?: string | null;
  saverDone?: string[];
  /** `values` of the thread itself. */
  valuesDone?: string[];
}

export interface Violation {
  law: 1 | 2 | 3 | 4 | 5 | 6 | 7;
  text: string;
  thread?: string | undefined;
  run?: string | undefined;
  server?: string | undefined;
  t?: number | undefined;
}

/** Violations of a law, and how many items were checked: a law that checked nothing proves nothing. */
export interface Verdict {
  violations: Violation[];
  checked: Record<string, number>;
}
