/**
 * Everything that the checker judges, as plain data: what clients saw, which faults there were, what graphs did and
 * what the tables hold. All times are ms of the machine's monotonic clock.
 */
export interface World {
  operations: Operation[];
  faults: FaultEvent[];
  /** Times without a fault, in which all processes were ready. */
  calms: Window[];
  health: HealthSample[];
  exits: Exit[];
  hooks: Hook[];
  ledger: LedgerLine[];
  runs: RunRow[];
  threads: ThreadView[];
  checkpoints: CheckpointRow[];
  streams: KeptStream[];
  /** When reading the tables began; `settledAt`: when no run was pending or running any more, if that came. */
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
  /** `fail`: refused, nothing was done. `unknown`: no answer, it may have been done. */
  outcome: "open" | "ok" | "fail" | "unknown";
  server?: string;
  thread?: string;
  run?: string;
  /** When the run's id was known to the client: the run is acknowledged from then on. */
  accepted?: number;
  status?: number;
  error?: string;
  /** Of the run or the state update. */
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
  /** Of a stream: closed by the server, broken, or left by the reader itself. */
  closed?: "whole" | "broken" | "left";
  cron?: string;
  /** State that a waiting client was given. */
  done?: string[];
}

export type OperationName =
  | "thread.create"
  | "thread.delete"
  | "run.create"
  | "stream.read"
  | "run.cancel"
  | "state.update"
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
  /** When the cause was taken away; what it hit recovers until `end`. */
  healing?: number;
  end?: number;
  /** Processes that the fault froze or killed. */
  pids?: number[];
  detail?: string;
}

export interface HealthSample {
  sent: number;
  /** When the answer came, or the patience ended. */
  t: number;
  server: string;
  endpoint: "/ok" | "/ready";
  /** 0: no answer. */
  status: number;
  /** Body of an answer other than 200, or why there was none. */
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
  phase: "start" | "end" | "ask" | "answer";
  token: string;
  step?: number;
  execution?: string;
  seen?: number;
  last?: string | null;
  frames?: number;
  question?: number;
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
  created: number;
  started: number | null;
  ended: number | null;
  /** The run itself says that frames are missing. */
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
  /** Rows of any table that name the thread. */
  rows: number;
  /** Status of GET /threads/{id}. */
  answer: number;
  status?: string;
  done?: string[];
  answers?: string[];
  /** `/state`'s checkpoint, and ids of `/history`, newest first. */
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

/** What a law found, with how much it looked at: a law that looked at nothing has proved nothing. */
export interface Verdict {
  violations: Violation[];
  checked: Record<string, number>;
}
