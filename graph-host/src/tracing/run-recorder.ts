import { getDefaultProjectName, type RunTree } from "langsmith";

import type { Outbox } from "./outbox.ts";
import { runJson, type SentRun } from "./run-json.ts";

/** Time that a run waits for others of its batch. */
const DELAY_MS = 250;
/** Time between two batches under load: requests are then larger rather than more. */
const INTERVAL_MS = 2000;
/** Runs in a batch from which on there is load. */
const LOAD_RUNS = 20;
/** Most runs in a batch. */
const MAX_RUNS = 2000;
/** Size at which a batch is closed. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** Tracer of the run. In newer versions of LangChain a private method of it redacts what is sent. */
export type TracePolicy = object;

export interface RecorderOptions {
  /** Runtime and metadata of the environment, added to each run's `extra`. */
  environment: { runtime?: object; metadata?: object };
  hideInputs: boolean;
  hideOutputs: boolean;
  hideMetadata: boolean;
}

interface Entry {
  /** Run of LangChain's callbacks, serialized as it is when the batch is sent. */
  tree?: RunTree;
  policy?: TracePolicy;
  /** Run of `traceable`, as its client was given it. */
  run?: SentRun;
  kind: "post" | "patch";
  /** Whether the entry contains the run's start: a patch without it leaves out what the start contained. */
  begins: boolean;
}

/**
 * Runs that are not sent yet. A run that begins and ends within a batch is sent once, complete; of others the start is
 * sent first. Values are serialized when the batch is, not when they are recorded.
 */
export class RunRecorder {
  readonly #outbox: Outbox;
  readonly #options: RecorderOptions;
  #entries = new Map<string, Entry>();
  /** Roots in a later attempt, with their input. */
  readonly #retried = new Map<string, unknown>();
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  /** Time before which no further batch is sent, unless it is full. */
  #notBefore = 0;
  /** Runs expected to fill a batch, after the size of earlier ones. */
  #room = MAX_RUNS;

  constructor(outbox: Outbox, options: RecorderOptions) {
    this.#outbox = outbox;
    this.#options = options;
  }

  /**
   * Registers a later attempt of this run. The start of such a root is sent as an update, because the first attempt's
   * start was recorded; and its graph input may be empty, because it resumes from a checkpoint.
   */
  retry(runId: string, input: unknown): void {
    this.#retried.set(runId, input);
  }

  begin(tree: RunTree, policy: TracePolicy): void {
    const kind = this.#retried.has(tree.id) ? "patch" : "post";
    if (kind === "patch") tree.inputs = toInputs(this.#retried.get(tree.id)) ?? tree.inputs;
    this.#retried.delete(tree.id);
    this.#add(tree.id, { tree, policy, kind, begins: true });
  }

  end(tree: RunTree, policy: TracePolicy): void {
    if (this.#entries.get(tree.id)?.tree !== tree) this.#add(tree.id, { tree, policy, kind: "patch", begins: false });
  }

  /** Records the start of a run of `traceable`. */
  create(run: SentRun): void {
    this.#add(run.id, { run, kind: "post", begins: true });
  }

  update(run: SentRun): void {
    const entry = this.#entries.get(run.id);
    // the run itself is up to date
    if (entry?.tree) return;
    if (entry?.run) Object.assign(entry.run, run);
    else this.#add(run.id, { run, kind: "patch", begins: false });
  }

  /** Drops what `retry` registered, if the run has not begun. */
  ended(runId: string): void {
    this.#retried.delete(runId);
  }

  /** Hands all recorded runs to the outbox. */
  flush(): void {
    while (this.#entries.size > 0) this.#sendBatch();
  }

  #add(id: string, entry: Entry): void {
    // a root of two attempts in this process
    if (this.#entries.has(id)) this.flush();
    this.#entries.set(id, entry);
    if (this.#entries.size >= this.#room) this.#sendSoon();
    else if (this.#timer === undefined) {
      const delay = Math.max(DELAY_MS, this.#notBefore - performance.now());
      this.#timer = setTimeout(() => this.#sendBatch(), delay);
    }
  }

  /** Sends a batch between other work of the process. */
  #sendSoon(): void {
    this.#soon ??= setImmediate(() => this.#sendBatch());
  }

  #sendBatch(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#soon);
    this.#timer = this.#soon = undefined;
    const batch: Record<Entry["kind"], string[]> = { post: [], patch: [] };
    let size = 0;
    let runs = 0;
    for (const [id, entry] of this.#entries) {
      this.#entries.delete(id);
      const json = runJson(this.#toSent(entry));
      batch[entry.kind].push(json);
      size += json.length;
      runs += 1;
      if (size >= BATCH_BYTES || runs >= MAX_RUNS) break;
    }
    if (runs === 0) return;
    this.#room = Math.max(1, Math.min(MAX_RUNS, Math.floor((BATCH_BYTES * runs) / size)));
    if (runs >= LOAD_RUNS) this.#notBefore = performance.now() + INTERVAL_MS;
    const body = Buffer.from(`{"post":[${batch.post.join(",")}],"patch":[${batch.patch.join(",")}]}`);
    this.#outbox.add({ path: "/runs/batch", contentType: "application/json", body });
    if (this.#entries.size > 0) this.#sendSoon();
  }

  #toSent({ tree, policy, run, begins }: Entry): SentRun {
    const sent = tree ? treeFields(tree, begins, policy) : { ...run! };
    const { environment, hideInputs, hideOutputs, hideMetadata } = this.#options;
    const extra = (sent.extra ?? {}) as { runtime?: object; metadata?: object };
    sent.extra = {
      ...extra,
      runtime: { ...environment.runtime, ...extra.runtime },
      metadata: { ...environment.metadata, ...(!hideMetadata && extra.metadata) },
    };
    if (hideInputs && sent.inputs !== undefined) sent.inputs = {};
    if (hideOutputs && sent.outputs !== undefined) sent.outputs = {};
    return sent;
  }
}

/** Returns what a run of LangChain's callbacks is sent as. */
export function treeFields(tree: RunTree, begins: boolean, policy?: TracePolicy): SentRun {
  const sent: SentRun = {
    id: tree.id,
    trace_id: tree.trace_id,
    dotted_order: tree.dotted_order,
    parent_run_id: tree.parent_run_id,
    name: tree.name,
    run_type: tree.run_type,
    start_time: tree.start_time,
    end_time: tree.end_time,
    session_name: tree.project_name ?? getDefaultProjectName(),
    reference_example_id: tree.reference_example_id,
    tags: tree.tags,
    error: tree.error,
    extra: tree.extra,
    serialized: begins ? tree.serialized : undefined,
    events: tree.events,
    inputs: begins ? tree.inputs : undefined,
    outputs: tree.outputs,
  };
  (policy as { _applyTracePolicy?(run: object): unknown } | undefined)?._applyTracePolicy?.(sent);
  return sent;
}

export const toInputs = (input: unknown): Record<string, unknown> | undefined =>
  typeof input === "object" && input !== null ? (input as Record<string, unknown>) : undefined;
