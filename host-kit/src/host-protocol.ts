/**
 * The graph host protocol, version 1.
 *
 * A graph host is a child process that runs user code. It talks to the server over one duplex byte stream, file
 * descriptor 3 of the host, and knows nothing of HTTP. The protocol is language-neutral: a frame is two lengths, a JSON
 * header and raw bytes.
 *
 *     frame  := u32 header_length (LE) | u32 body_length (LE) | header (JSON, UTF-8) | body (bytes)
 *
 * The header identifies the frame (`t`); the body carries what the server stores or forwards without parsing it: JSON
 * text, already serialized by the side that has the objects.
 *
 * Life cycle of a host: it loads the project's graphs, sends `ready`, answers `ping` with `pong`, executes each
 * `run.start`, answers each `call` with one `result`, and on `drain` finishes its runs and exits with 0. When the
 * stream ends, its server is gone: the host must exit at once. A second descriptor, 4, carries a line from the server
 * every 250 ms; a watchdog thread of the host kills the process when it ends, or stays silent for
 * `HEDDLE_HOST_SILENCE_MS`, so that a blocked event loop cannot outlive its server. The thread answers a line `?` with
 * a {@link BlockingCode} as a line of JSON. A line `!` with an {@link Interruption} as JSON interrupts that code; only
 * hosts of languages that can do so get it.
 *
 * Run: `run.start` is answered by any number of `event` frames, then exactly one `run.end`, also after `run.cancel`.
 * All writes of a run are fenced by (`run_id`, `attempt`): when the database reports that the attempt is no longer the
 * current one, the host stops the run and ends it with `fenced`. A `run.start` for a run that this host still executes
 * replaces the older attempt, which ends without a `run.end`: from then on every frame of the run belongs to the newer
 * attempt.
 */
export const PROTOCOL_VERSION = 1;

/**
 * Header of a frame, discriminated by `t`. Server and host are of one version: a frame with an unknown `t` breaks the
 * protocol, on both sides.
 */
export type ServerFrame =
  | { t: "ping"; n: number }
  /** Body: {@link RunKwargs} as JSON. */
  | RunStart
  /** Stops a run. `reason` is the message of the abort signal's error. The host still sends `run.end`. */
  | { t: "run.cancel"; run_id: string; reason: string }
  /** Leaves the run's end to the server: see {@link RunStart.hold_end}. No effect on a run that is just ending. */
  | { t: "run.hold"; run_id: string }
  /** Body: the method's parameters as JSON, see {@link HostCalls}. */
  | { t: "call"; id: number; method: keyof HostCalls }
  /** Answer to `store.call`. Body: JSON array of results, one per operation, or nothing on error. */
  | { t: "store.result"; id: number; error?: WireError }
  | CheckpointResult
  /** Destination of the runs' traces from now on. Without this frame runs are not traced. */
  | { t: "trace.to"; to: TraceDestination }
  /** Whether long lists are stored whole from now on, because an older server cannot read changes. At first not. */
  | { t: "lists.whole"; whole: boolean }
  /** Keys with which stored state is encrypted from now on. Only for hosts that write it themselves. */
  | { t: "state.keys"; keys: DataKeys }
  /** Body: {@link LostTrace} as JSON. The run is over, and the process that traced it could not report its end. */
  | { t: "trace.close" }
  /** Answered by `trace.flushed` when the traces of all runs so far are delivered, or after `ms`. */
  | { t: "trace.flush"; ms: number }
  /** Accept nothing new, finish active runs, exit with 0. */
  | { t: "drain" }
  /** Abandon active runs, end the lifespan of the project's app, exit with 0. Only for hosts that run it. */
  | { t: "close" };

export type HostFrame =
  | { t: "ready"; protocol: number; langgraph_version: string; graphs: Record<string, GraphStatus> }
  /** `rss` and `heap` in bytes. */
  | { t: "pong"; n: number; rss: number; heap: number }
  /**
   * One stream event, in order. Body: the event's data as JSON text. `event` as on the wire, with `|ns`. The server
   * itself sends the `metadata` event that opens a stream.
   */
  | { t: "event"; run_id: string; event: string }
  /** All events that led to this committed checkpoint of the root graph have been sent. */
  | { t: "mark"; run_id: string; checkpoint_id: string }
  /**
   * Precedes any event of a later attempt that does not start over: the frames up to this checkpoint belong to an
   * earlier attempt. null: so do frames beyond any checkpoint, such as those of completed tasks of its step.
   */
  | { t: "run.resumed"; run_id: string; checkpoint_id: string | null }
  /** Body: {@link RunResult} as JSON text. */
  | RunEnd
  /** Body: the method's result as JSON text, or nothing on error. `shared`: the body is a `SharedJson`. */
  | { t: "result"; id: number; error?: WireError; shared?: true }
  /** Body: JSON array of store operations, see {@link StoreOperation}. */
  | { t: "store.call"; id: number }
  | CheckpointFrame
  | { t: "trace.flushed" }
  /** Body: JSON array of the project's files that were loaded since the last such frame. Sent with a `pong`. */
  | { t: "loaded" }
  /** User code failed outside any run's promise and the run cannot be identified; the host exits after this. */
  | { t: "fault"; message: string };

/** Code that a host's main thread executes. */
export interface BlockingCode {
  /** Null for code outside any run. */
  run_id: string | null;
  /** Innermost line of the project's code: file, line and function. */
  where: string;
  stack: string;
}

/** `error`: the end of the run; null leaves it to the server. */
export interface Interruption {
  run_id: string;
  error: { error: string; message: string } | null;
}

/** `status` is the HTTP status for the caller: 4xx for the caller's mistakes, 500 for the graph's. */
export interface WireError {
  status: number;
  name: string;
  message: string;
}

export type GraphStatus =
  /** `notes`: parts of the graph that Heddle replaces, for the developer. */
  | { ok: true; description: string | null; notes?: string[] }
  /** The graph could not be loaded; `error` is for the developer, with file and line where known. */
  | { ok: false; description: string | null; error: string };

export interface RunStart {
  t: "run.start";
  run_id: string;
  thread_id: string;
  assistant_id: string;
  graph_id: string;
  /** 1 for the first attempt. Above 1 the host resumes from the run's own last checkpoint, if there is one. */
  attempt: number;
  /** True when the thread has no checkpoint yet, which saves the host a read. */
  fresh_thread: boolean;
  /** Newest checkpoint of the thread: a host that remembers it need not read it. */
  head?: string;
  /** Do not add results for stopped tool calls to new input. */
  keep_tool_calls?: true;
  /** Whether other servers must be notified of the run's end. */
  notify: boolean;
  /**
   * The host writes the last checkpoint and leaves the final status to the server, which has frames to write with it.
   */
  hold_end?: boolean;
}

/** `waiting`: a trace platform is starting; traces are buffered for it, within bounds. */
export type TraceDestination = { state: "off" | "waiting" } | { state: "on"; url: string; key: string | null };

/** Keys of stored state, see state-cipher.ts. */
export interface DataKeys {
  keys: { id: string; key: string }[];
  /** The key that encrypts; null: nothing new is encrypted. */
  current: string | null;
  /** Keys that cannot be decrypted, and why. */
  locked: { id: string; reason: string }[];
}

/** End of a run that its own tracer did not report, or the whole run when nothing was reported. */
export interface LostTrace {
  run_id: string;
  name: string;
  /** ISO 8601 in UTC; start of the run itself, when its tracer has reported nothing. */
  start_time: string;
  inputs: unknown;
  error: string | null;
  /** Project that the run asked for, instead of the usual one. */
  project?: string;
  metadata: Record<string, unknown>;
}

/** Definition of a run, as stored in `runs.kwargs`. The fields are those of the body that creates a run. */
export interface RunKwargs {
  input?: unknown;
  command?: { update?: unknown; resume?: unknown; goto?: unknown } | null;
  config: {
    tags?: string[];
    recursion_limit?: number;
    configurable?: Record<string, unknown>;
    metadata?: Record<string, unknown>;
    [key: string]: unknown;
  };
  context?: unknown;
  /**
   * Keys of `configurable` and `context` that the caller of the run has set, and headers in `configurable`. Absent in
   * projects without Python graphs.
   */
  given?: { configurable: string[]; context: string[]; headers: string[] };
  /** Trace of the request that created the run: headers of W3C Trace Context. */
  trace?: { traceparent?: string; tracestate?: string };
  stream_mode: string[];
  interrupt_before?: "*" | string[] | null;
  interrupt_after?: "*" | string[] | null;
  subgraphs: boolean;
  resumable: boolean;
  temporary: boolean;
  durability?: "sync" | "async" | "exit";
  /**
   * The run's events are those of protocol v2: `event` is `protocol:` and a JSON array
   * of the channel and the segments of the namespace, the body the `params` of the event.
   */
  protocol?: "v2";
  /**
   * Pending interrupts that the run answers or discards, by id (migrations/postgres/functions/questions.sql). `open`:
   * interrupts that a resume still has to answer; `refused`: why it must not run.
   */
  questions?: { refused?: string; discarded?: string[]; bound?: Record<string, string>; open?: string[] } | null;
}

type Outcome = "success" | "error" | "cancelled" | "fenced" | "retry";

export interface RunEnd {
  t: "run.end";
  run_id: string;
  attempt: number;
  /**
   * `success`: the graph ran to its end or to an interrupt. `error`: it threw; `error` has the details. `cancelled`: it
   * was stopped by `run.cancel`. `fenced`: another attempt owns the run; nothing was written. `retry`: the
   * infrastructure failed (the database was unreachable for too long), not user code.
   */
  outcome: Outcome;
  error?: { error: string; message: string; stack?: string };
  /**
   * Present when the host has written the run's final status with its last checkpoint: the status, and whether another
   * run waits for the thread. Otherwise the server has to write it.
   */
  finished?: { outcome: string; waiting: boolean };
}

/** State of the thread after the run. `interrupts` is keyed by task id. Absent when unknown. */
export interface RunResult {
  /**
   * Long lists of the values, by channel, which `values` then lacks: the first `keep` items of the stored list, then
   * `items`. The first field of the JSON text, so that its presence shows without parsing.
   */
  lists?: Record<string, { keep: number; items: unknown[] }>;
  /** The checkpoint of the stored lists, if any item is kept. */
  base?: string;
  values?: unknown;
  /** The checkpoint of this state. */
  of?: string;
  next?: string[];
  interrupts?: Record<string, unknown[]>;
}

export interface CheckpointRef {
  checkpoint_id?: string;
  checkpoint_ns?: string;
  checkpoint_map?: Record<string, string>;
}

/** Methods of `call`: parameters and results. States are ThreadStates as on the wire. */
export interface HostCalls {
  "graph.schemas": {
    /** `types: false`: answer at once, with the types in the source only if they were read before. */
    params: { graph_id: string; config: object; types?: false };
    result: Record<string, unknown>;
  };
  "graph.drawing": {
    params: { graph_id: string; config: object; xray: boolean | number };
    result: { nodes: unknown[]; edges: unknown[] };
  };
  "graph.subgraphs": {
    params: { graph_id: string; config: object; namespace?: string; recurse: boolean };
    result: Record<string, unknown>;
  };
  "state.get": {
    params: { graph_id: string; thread_id: string; config: object; checkpoint?: CheckpointRef; subgraphs: boolean };
    /** null when `checkpoint.checkpoint_id` names a checkpoint that the thread does not have. */
    result: unknown;
  };
  "state.history": {
    params: {
      graph_id: string;
      thread_id: string;
      config: object;
      limit: number;
      before?: CheckpointRef;
      filter?: Record<string, unknown>;
      checkpoint?: CheckpointRef;
    };
    result: unknown[];
  };
  /** `supersteps` are applied in order, each on top of the previous one (bulk update). */
  "state.update": {
    params: {
      graph_id: string;
      thread_id: string;
      config: object;
      checkpoint?: CheckpointRef;
      /** The caller is creating the thread in a transaction that hides it from the host. */
      creates?: boolean;
      supersteps: { updates: { values?: unknown; command?: RunKwargs["command"]; as_node?: string }[] }[];
    };
    /** `state` is the thread's new head, for the thread's row. */
    result: { checkpoint: { thread_id: string; checkpoint_ns: string; checkpoint_id: string }; state: RunResult };
  };
}

/**
 * Checkpoints of a host that has no access to the database. Each frame with an `id` is answered by one
 * `checkpoint.result`. Bodies are the values of the rows as they are stored, one after another, in the order in which
 * the header states their lengths (`bytes`).
 */
export type CheckpointFrame =
  /** `lazy`: no caller waits for it; it joins a later statement. Writes are committed in the order of their frames. */
  | { t: "checkpoint.write"; id: number; lazy: boolean; item: WireItem }
  /** Callers wait for all writes so far. */
  | { t: "checkpoint.hurry" }
  /** No caller waits any more for the writes of these frames. */
  | { t: "checkpoint.relax"; ids: number[] }
  /** Answered by `checkpoints`, `values` and `newest`. */
  | { t: "checkpoint.read"; id: number; query: WireQuery }
  /** Answered by `history` and `values`. */
  | {
      t: "checkpoint.history";
      id: number;
      thread_id: string;
      ns: string;
      checkpoint_id?: string;
      channels: string[];
    }
  | { t: "checkpoint.change"; id: number; change: CheckpointChange };

/** `error.name` is `FencedError`, `HeadMovedError` or `DatabaseAwayError` where that decides what follows. */
export interface CheckpointResult {
  t: "checkpoint.result";
  id: number;
  error?: WireError;
  /** Outcome of a write that ends its run. */
  finished?: { outcome: string; waiting: boolean };
  checkpoints?: WireCheckpoint[];
  /** Values that the checkpoints or histories have; several may share one. Their bytes are the first of the body. */
  values?: WireValue[];
  /** Newest id of the namespace that was read, regardless of the selection. */
  newest?: string;
  /** `seed`: place of the value with which the history begins. */
  history?: { channel: string; writes: WireWrite[]; seed?: number }[];
}

/** Rows of one thread and namespace that are written atomically. Their values follow in the order of these fields. */
export interface WireItem {
  thread_id: string;
  ns: string;
  fence?: { run_id: string; attempt: number };
  /** Newest checkpoint of each namespace on which a state update is based. */
  guard?: [ns: string, id: string][];
  checkpoint?: { id: string; parent_id: string | null; bytes: [checkpoint: number, metadata: number] };
  blobs: { channel: string; version: string; type: string; link: string | null; bytes: number | null }[];
  writes: {
    checkpoint_id: string;
    task_id: string;
    idx: number;
    channel: string;
    type: string;
    replaces: boolean;
    bytes: number;
  }[];
  finish?: { notify: boolean; bytes: number };
}

export interface WireQuery {
  thread_id?: string;
  ns?: string;
  id?: string;
  before?: string;
  filter?: Record<string, unknown>;
  limit?: number;
}

export interface WireCheckpoint {
  thread_id: string;
  ns: string;
  id: string;
  parent_id: string | null;
  bytes: [checkpoint: number, metadata: number];
  /** Each channel with the place of its value in the result's `values`. */
  values: [channel: string, place: number][];
  writes: WireWrite[];
  parent_sends: WireWrite[];
}

/** `base`: the place of the value of which this one is a change. Its own place is a later one. */
export interface WireValue {
  type: string;
  version: string;
  bytes: number;
  base?: number;
}

export interface WireWrite {
  task_id: string;
  idx: number;
  channel: string;
  type: string;
  bytes: number;
}

/** The saver's methods that copy, prune and delete checkpoints. */
export type CheckpointChange =
  | { op: "delete_threads"; thread_ids: string[] }
  | { op: "copy_thread"; source: string; target: string }
  | { op: "keep_latest"; thread_ids: string[] }
  | { op: "delete_runs"; run_ids: string[] };

/** Store operations cross the protocol in LangGraph's own terms (`BaseStore.batch`). */
export type StoreOperation =
  /** `refresh_ttl`: whether reading restarts the time to live. Absent: the project's setting decides. */
  | { op: "get"; namespace: string[]; key: string; refresh_ttl?: boolean }
  | {
      op: "put";
      namespace: string[];
      key: string;
      value: Record<string, unknown> | null;
      index?: false | string[];
      /** Minutes; null: never expires. Absent: the project's default. */
      ttl?: number | null;
    }
  | {
      op: "search";
      namespace_prefix: string[];
      filter?: Record<string, unknown>;
      limit?: number;
      offset?: number;
      query?: string;
      refresh_ttl?: boolean;
    }
  | {
      op: "list";
      match_conditions?: { match_type: "prefix" | "suffix"; path: string[] }[];
      max_depth?: number;
      limit: number;
      offset: number;
    };

const PREFIX = 8;
/** Length of a frame's header above which the sender does not follow the protocol: four bytes of text are twice it. */
const MAX_HEADER = 256 * 1024 * 1024;
/** Size from which a frame is collected in one piece. */
const LARGE_FRAME = 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** Encodes one frame. `body` is text, or bytes in one or several parts, that are sent unchanged. */
export function encodeFrame(
  header: ServerFrame | HostFrame,
  body: string | Buffer | readonly Buffer[] = EMPTY,
): Buffer {
  const head = JSON.stringify(header);
  const headLength = Buffer.byteLength(head);
  const parts: readonly Buffer[] = typeof body === "string" ? [] : Buffer.isBuffer(body) ? [body] : body;
  const bodyLength =
    typeof body === "string" ? Buffer.byteLength(body) : parts.reduce((sum, part) => sum + part.length, 0);
  const frame = Buffer.allocUnsafe(PREFIX + headLength + bodyLength);
  frame.writeUInt32LE(headLength, 0);
  frame.writeUInt32LE(bodyLength, 4);
  frame.write(head, PREFIX, "utf8");
  if (typeof body === "string") frame.write(body, PREFIX + headLength, "utf8");
  let at = PREFIX + headLength;
  for (const part of parts) at += part.copy(frame, at);
  return frame;
}

/**
 * Cuts a byte stream into frames and calls back once per frame, in order. A body passed to the callback is a view into
 * the chunk: it may be kept, but never written to.
 */
export class FrameReader<T extends { t: string }> {
  #onFrame: (header: T, body: Buffer) => void;
  #chunks: Buffer[] = [];
  #length = 0;
  /** A large frame whose end has not arrived, and the number of its bytes that have. */
  #large: { frame: Buffer; length: number } | undefined;

  constructor(onFrame: (header: T, body: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  /** @throws Error for bytes that are no frames; the reader is of no use then */
  push(received: Buffer): void {
    const chunk = this.#large ? this.#fill(this.#large, received) : received;
    if (!chunk) return;
    if (chunk.length > 0) this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= PREFIX) {
      if (this.#chunks[0]!.length < PREFIX) this.#join();
      const head = this.#chunks[0]!;
      const headLength = head.readUInt32LE(0);
      if (headLength > MAX_HEADER) throw new RangeError("the bytes received are not frames");
      const size = PREFIX + headLength + head.readUInt32LE(4);
      if (this.#length < size) {
        if (size >= LARGE_FRAME) this.#startLarge(size);
        return;
      }
      if (this.#chunks[0]!.length < size) this.#join();
      const buffer = this.#chunks[0]!;
      if (buffer.length === size) this.#chunks.shift();
      else this.#chunks[0] = buffer.subarray(size);
      this.#length -= size;
      const header = JSON.parse(buffer.toString("utf8", PREFIX, PREFIX + headLength)) as T;
      this.#onFrame(header, buffer.subarray(PREFIX + headLength, size));
    }
  }

  /** Collects a large frame in place: its chunks would otherwise be in memory beside the frame. */
  #startLarge(size: number): void {
    const frame = Buffer.allocUnsafe(size);
    let length = 0;
    for (const chunk of this.#chunks) length += chunk.copy(frame, length);
    this.#large = { frame, length };
    this.#chunks = [];
    this.#length = 0;
  }

  /** @returns what follows the frame in the chunk, if the frame is complete */
  #fill(large: { frame: Buffer; length: number }, chunk: Buffer): Buffer | undefined {
    const taken = chunk.copy(large.frame, large.length);
    large.length += taken;
    if (large.length < large.frame.length) return undefined;
    this.#large = undefined;
    this.#chunks = [large.frame];
    this.#length = large.frame.length;
    return chunk.subarray(taken);
  }

  #join(): void {
    this.#chunks = [Buffer.concat(this.#chunks)];
  }
}
