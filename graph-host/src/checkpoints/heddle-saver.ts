import type { RunnableConfig } from "@langchain/core/runnables";
import { BaseCheckpointSaver, WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
import type {
  ChannelVersions as Versions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
  DeltaChannelHistory,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";

import { ChannelVersions } from "./channel-version.ts";
import { type CheckpointClock, processClock } from "./checkpoint-clock.ts";
import type { CheckpointDatabase } from "./checkpoint-database.ts";
import { ChannelLists } from "./channel-lists.ts";
import { ChangedLists, type ShownLists } from "./changed-lists.ts";
import { CheckpointOrderError, ValueTooLargeError } from "./errors.ts";
import { nothingFollows, type Triggers } from "./final-step.ts";
import { Heads } from "./head.ts";
import { jsonbText } from "./jsonb-text.ts";
import { loadTuple, loadWrites, type OldCheckpoint, TASKS_CHANNEL } from "./load-tuple.ts";
import { mergedMetadata } from "./merged-metadata.ts";
import { NewestIds } from "./newest-ids.ts";
import type { CheckpointQuery, StoredCheckpoint } from "./read-statement.ts";
import type { BlobRow, CheckpointRow, Fence, Finished, HeadGuard, WriteItem, WriteRow } from "./rows.ts";
import { PlainFirstSerializer } from "./serializer.ts";
import { passesListsOn, WITHOUT_LISTS } from "./showable-lists.ts";
import { StartStep } from "./start-step.ts";

export interface SaverOptions {
  /** Run that writes. Without it, rows are written unfenced. */
  fence?: Fence;
  /** Thread known to have no checkpoint, which saves reading it. */
  freshThread?: string;
  /** Newest checkpoint of a thread, without pending writes: not read again where it is remembered. */
  head?: { threadId: string; id: string };
  /**
   * True when the root graph's start step runs no user code, see `startsWithoutUserCode`: puts do not wait for its
   * checkpoint. `flush` must be awaited at the end of the run.
   */
  passiveStart?: boolean;
  /** Triggers of the root graph's nodes: puts do not wait for a checkpoint that triggers none either. */
  triggers?: Triggers | undefined;
  /** Writes belong to a state update: they are rejected once its thread has changed. */
  guarded?: boolean;
  /** Nothing is put, and values that are read are not changed: checkpoints may share their objects. */
  onlyReads?: boolean;
  /** Channels of the root graph whose lists are read as stored items, see `showableLists`. */
  showsLists?: ReadonlySet<string> | undefined;
  /** Clock for the ids of the checkpoints to be put. Default: the process's. */
  clock?: CheckpointClock | undefined;
  /** Called with each checkpoint of the root graph once it is committed, except those that are not waited for. */
  onCheckpoint?: ((checkpointId: string) => void) | undefined;
}

/**
 * Checkpoint saver for one run, or for one read or manual update. It is cheap to create: connections and batches belong
 * to the database. It uses the tables of the official Postgres saver, and each reads the other's rows.
 *
 * A put or a write resolves when it is committed, with one exception: anything put before user code of this run could
 * have run (the input's checkpoint, and the start step's where `passiveStart` is set) resolves at once. It is queued
 * before everything that follows, so later commits always include it, and a crash can lose only work that repeats
 * itself exactly. A failure surfaces at the next write or `flush`. The same holds for a checkpoint that no node
 * follows, with the writes that led to it: `finish` or `flush` comes next, and the run has not ended before.
 */
export class HeddleSaver extends BaseCheckpointSaver {
  #database: CheckpointDatabase;
  #options: SaverOptions;
  #serde: PlainFirstSerializer;
  #lists: ChannelLists;
  #heads = new Heads();
  /** Saver whose puts this one reads. */
  #source: HeddleSaver | undefined;
  #versions = new ChannelVersions();
  #start: StartStep;
  /** Namespaces that this saver has written to. */
  #written = new Set<string>();
  #peeked: StoredCheckpoint | undefined;
  #newest: NewestIds;
  #unsettled = new Set<Promise<unknown>>();
  /** Items with a waiting caller, each with the function that releases it early. */
  #awaited = new Map<WriteItem, () => void>();
  #turn: Promise<void> = Promise.resolve();
  #failure: { error: unknown } | undefined;

  constructor(database: CheckpointDatabase, options: SaverOptions = {}) {
    super();
    this.#serde = new PlainFirstSerializer(this.serde, { sharesTexts: options.onlyReads ?? false });
    this.serde = this.#serde;
    this.#lists = new ChannelLists(this.#serde, (value) => this.#dumpText(value), {
      onlyReads: options.onlyReads ?? false,
      storesWhole: () => database.storesListsWhole,
    });
    this.#database = database;
    this.#options = options;
    this.#newest = new NewestIds(options.clock ?? processClock);
    this.#start = new StartStep(options.passiveStart ?? false);
    // not a method: the library calls it bound to the checkpointer that the graph was compiled with
    const versions = this.#versions;
    this.getNextVersion = (current) => versions.next(current) as number;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id: threadId, checkpoint_ns: ns = "", checkpoint_id: id } = config.configurable ?? {};
    if (threadId === undefined) return undefined;
    if (config.configurable?.[WITHOUT_LISTS] === true) {
      await this.flush();
      const [found] = await this.#read({ threadId, ns, id: id || undefined, limit: 1, withoutLists: true });
      return found && this.#load(found, !id);
    }
    const stored = await this.#stored(threadId, ns, id || undefined);
    return stored && this.#load(stored, !id);
  }

  /** `asHead`: the library applies the pending writes of all tasks, not only those of the thread. */
  async #load(stored: StoredCheckpoint, asHead: boolean): Promise<CheckpointTuple> {
    const shown = this.#options.showsLists;
    const shows = shown && passesListsOn(stored, asHead);
    return loadTuple(stored, this.#serde, (channel, list) =>
      shows && shown.has(channel) ? this.#lists.loadWire(list) : this.#lists.load(stored.ns, channel, list),
    );
  }

  /** Returns a saver that only reads, without a query where this one has put the newest checkpoint. */
  reader(showsLists: ReadonlySet<string>): HeddleSaver {
    const reader = new HeddleSaver(this.#database, { clock: this.#options.clock, onlyReads: true, showsLists });
    reader.#heads = this.#heads;
    reader.#source = this;
    return reader;
  }

  /**
   * Returns what of a thread's lists is new since the values that its last run left, as far as this process knows them.
   */
  changedLists(threadId: string): ChangedLists {
    return new ChangedLists(this.#database.lastHeads.shown(threadId));
  }

  /** Returns a checkpoint of the root graph (the newest one without `id`) that nodes would have followed. */
  async unfinished(threadId: string, id: string | undefined): Promise<CheckpointTuple | undefined> {
    const stored = await this.#stored(threadId, "", id);
    if (id !== undefined) this.#peeked = stored;
    const { triggers } = this.#options;
    if (!stored || !triggers) return undefined;
    if (stored.parentSends.length > 0) return this.#load(stored, false);
    const tasks = stored.values.get(TASKS_CHANNEL);
    const values: Record<string, unknown> = {};
    for (const [channel, { type }] of stored.values) if (type !== "empty") values[channel] = true;
    if (tasks && tasks.type !== "empty") values[TASKS_CHANNEL] = await this.#serde.loadsTyped(tasks.type, tasks.data);
    const checkpoint = { ...(JSON.parse(stored.checkpoint) as Checkpoint), channel_values: values };
    return nothingFollows(checkpoint, triggers) ? undefined : this.#load(stored, false);
  }

  async #stored(threadId: string, ns: string, id: string | undefined): Promise<StoredCheckpoint | undefined> {
    await this.#turn;
    const head = this.#heads.get(threadId, ns, id) ?? this.#peekedAt(threadId, ns, id);
    if (head) {
      this.#throwFailure();
      return head;
    }
    if (threadId === this.#options.freshThread && !this.#written.has(ns)) return undefined;
    await this.flush();
    await this.#knowRoot(threadId, ns);
    const remembered = id ? undefined : this.#remembered(threadId, ns);
    const { lastHeads, shownLists } = this.#database;
    const known =
      ns !== "" || id ? undefined : this.#options.fence ? lastHeads.lists(threadId) : shownLists.get(threadId);
    const stored = remembered ?? (await this.#read({ threadId, ns, id, limit: 1, known }))[0];
    if (remembered) this.#newest.observe(threadId, ns, remembered.id);
    if (stored && this.#options.fence && !id) this.#heads.read(stored);
    if (stored && this.#options.showsLists && ns === "" && !id) shownLists.keep(stored);
    return stored;
  }

  /** An update of a subgraph's state is based on the root graph's head too, whose task the subgraph runs in. */
  async #knowRoot(threadId: string, ns: string): Promise<void> {
    if (!this.#options.guarded || ns === "" || this.#newest.inThread(threadId).has("")) return;
    await this.#read({ threadId, ns: "", limit: 0 });
  }

  /** Returns what `unfinished` has read by id, until this saver writes. */
  #peekedAt(threadId: string, ns: string, id: string | undefined): StoredCheckpoint | undefined {
    const peeked = this.#peeked;
    const same = peeked?.threadId === threadId && ns === "" && peeked.id === id;
    return same && !this.#written.has("") ? peeked : undefined;
  }

  override async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    const { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } = config?.configurable ?? {};
    const { filter, before, limit } = options ?? {};
    await this.#turn;
    if (threadId !== undefined && threadId === this.#options.freshThread && this.#written.size === 0) return;
    await this.flush();
    const { historyLists } = this.#database;
    const states = limit ?? Number.POSITIVE_INFINITY;
    const isShown = this.#options.showsLists && threadId && ns === "" && !id && !before && !filter;
    const found = await this.#read({
      threadId: threadId || undefined,
      ns: ns ?? undefined,
      id: id || undefined,
      before: before?.configurable?.checkpoint_id,
      filter,
      limit,
      known: isShown ? historyLists.getForHistory(threadId as string, states) : undefined,
    });
    const oldest = found.at(-1);
    if (isShown && oldest) historyLists.keepOldest(oldest, states);
    for (const stored of found) yield this.#load(stored, false);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: Versions,
  ): Promise<RunnableConfig> {
    const { threadId, ns } = address(config, "put a checkpoint");
    const parentId: string | undefined = config.configurable?.checkpoint_id;
    this.#throwFailure();
    const guard = this.#guard(threadId);
    // no await unless necessary: queue order is put order
    if (!this.#newest.observe(threadId, ns, checkpoint.id)) await this.#assertReplaces(threadId, ns, checkpoint.id);
    const last = this.#isLast(ns, checkpoint);
    const early = this.#start.putsEarly(ns, checkpoint, metadata) || last;
    const { channel_values: values, ...rest } = checkpoint as OldCheckpoint;
    // stored with the parent's writes
    if (rest.pending_sends) rest.pending_sends = [];
    const checkpointText = jsonbText(JSON.stringify(rest));
    const [metadataText, ...blobs] = await this.#inOrder([
      this.#dumpText(mergedMetadata(config, metadata, this.#options.fence?.runId)),
      ...Object.entries(newVersions).map(([channel, version]) => this.#blob(threadId, ns, channel, version, values)),
    ]);
    const row: CheckpointRow = {
      threadId,
      ns,
      id: checkpoint.id,
      parentId: parentId ?? null,
      checkpoint: checkpointText,
      metadata: jsonbText(metadataText),
    };
    this.#versions.newBranch();
    this.#written.add(ns);
    this.#heads.put(row, blobs, checkpoint);
    if (last) this.#relax();
    await this.#write({ fence: this.#options.fence, guard, checkpoint: row, blobs, writes: [] }, early && !guard);
    if (!early && ns === "") this.#options.onCheckpoint?.(checkpoint.id);
    return { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: checkpoint.id } };
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { threadId, ns } = address(config, "put writes");
    const checkpointId: string | undefined = config.configurable?.checkpoint_id;
    if (checkpointId === undefined) throw new Error('Cannot put writes: the config has no "checkpoint_id"');
    this.#throwFailure();
    const guard = this.#guard(threadId);
    const early = this.#start.putsWritesEarly(ns, checkpointId, writes);
    const replaces = writes.every(([channel]) => channel in WRITES_IDX_MAP);
    const rows = await this.#inOrder(
      writes.map(async ([channel, value], i): Promise<WriteRow> => {
        const [type, blob] = this.#checked(threadId, channel, await this.#serde.dumpsTyped(value));
        const idx = WRITES_IDX_MAP[channel] ?? i;
        return { threadId, ns, checkpointId, taskId, idx, channel, type, blob, replaces };
      }),
    );
    this.#written.add(ns);
    this.#heads.putWrites(rows);
    await this.#write({ fence: this.#options.fence, guard, blobs: [], writes: rows }, early && !guard);
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.flush();
    this.#heads.clear(threadId);
    await this.#database.change({ op: "delete_threads", thread_ids: [threadId] });
  }

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { thread_id: threadId, checkpoint_ns: ns = "", checkpoint_id: id } = options.config.configurable ?? {};
    const result: Record<string, DeltaChannelHistory> = {};
    if (options.channels.length === 0 || threadId === undefined) return result;
    await this.flush();
    const history = await this.#database.readDeltaHistory(threadId, ns, id || undefined, options.channels);
    for (const [channel, { writes, seed }] of history) {
      result[channel] = { writes: await loadWrites(writes, this.#serde) };
      if (seed) result[channel].seed = await this.#serde.loadsTyped(seed.type, seed.data);
    }
    return result;
  }

  /**
   * Writes the run's final status together with everything unsent, in one commit. `state` and the result are those of
   * `finish_run`. Rejects as `flush` does. If the thread's values are not those that the lists of `state` continue, the
   * checkpoint is committed, and the end follows with `whole`. `shown`: the lists that the thread's values show then.
   */
  async finish(
    threadId: string,
    state: string,
    notify: boolean,
    { whole, shown }: { whole?: () => string; shown?: ShownLists | undefined } = {},
  ): Promise<Finished> {
    const { fence } = this.#options;
    if (!fence) throw new Error("only the saver of a run can finish the run");
    await this.#turn;
    this.#throwFailure();
    const write = (text: string) =>
      this.#database.write({ fence, blobs: [], writes: [], finish: { threadId, state: text, notify } }, false);
    const finished = write(state);
    finished.catch(noop);
    await this.flush();
    let result = await finished;
    if (result?.outcome === "stale_values" && whole) result = await write(whole());
    result ??= { outcome: "lost", waiting: false };
    const head = this.#heads.get(threadId, "");
    if (head && result.outcome !== "lost") this.#keep(head, shown);
    return result;
  }

  async #read(query: CheckpointQuery): Promise<StoredCheckpoint[]> {
    const { checkpoints, newest } = await this.#database.read(query);
    if (newest !== undefined) this.#newest.observe(query.threadId!, query.ns!, newest);
    return checkpoints;
  }

  /**
   * Throws unless the checkpoint exists: durability "exit" puts one again. A new one below the newest id of its
   * namespace would be written but never read.
   */
  async #assertReplaces(threadId: string, ns: string, id: string): Promise<void> {
    await this.flush();
    const { checkpoints, newest } = await this.#database.read({ threadId, ns, id, limit: 1 });
    if (checkpoints.length === 0) throw new CheckpointOrderError(threadId, ns, id, newest);
  }

  /** Returns the thread's current checkpoint as an earlier run of this process left it. */
  #remembered(threadId: string, ns: string): StoredCheckpoint | undefined {
    const { head } = this.#options;
    if (head?.threadId !== threadId || ns !== "" || this.#written.has(ns)) return undefined;
    return this.#database.lastHeads.get(threadId, head.id);
  }

  /**
   * Resolves when all puts are committed; rejects with the first failure of this saver. Given a thread, as at the end
   * of a run, it remembers that thread's newest checkpoint.
   */
  async flush(threadId?: string, shown?: ShownLists): Promise<void> {
    await this.#source?.flush();
    await this.#turn;
    if (this.#unsettled.size > 0) {
      this.#database.hurry();
      await Promise.all(this.#unsettled);
    }
    this.#throwFailure();
    const head = threadId === undefined ? undefined : this.#heads.get(threadId, "");
    if (head) this.#keep(head, shown);
  }

  #keep(head: StoredCheckpoint, shown: ShownLists | undefined): void {
    this.#lists.release(head);
    this.#database.lastHeads.keep(head, shown);
  }

  /** Serializes several parts, which takes some turns of the event loop, and keeps the order of the puts. */
  #inOrder<T extends unknown[]>(parts: readonly [...{ [K in keyof T]: Promise<T[K]> }]): Promise<T> {
    const turn = Promise.all([Promise.all<unknown>(parts as Promise<unknown>[]) as Promise<T>, this.#turn]).then(
      ([values]) => values,
    );
    this.#turn = turn.then(noop, noop);
    return turn;
  }

  async #write(item: WriteItem, early: boolean): Promise<void> {
    const settled: Promise<void> = this.#database.write(item, early).then(
      () => void this.#unsettled.delete(settled),
      (error: unknown) => {
        this.#unsettled.delete(settled);
        this.#failure ??= { error };
      },
    );
    this.#unsettled.add(settled);
    if (early) return;
    await Promise.race([settled, new Promise<void>((relaxed) => this.#awaited.set(item, relaxed))]);
    this.#awaited.delete(item);
    this.#throwFailure();
  }

  #guard(threadId: string): HeadGuard | undefined {
    if (!this.#options.guarded) return undefined;
    return { threadId, newest: [...new Map([["", ""], ...this.#newest.inThread(threadId)])] };
  }

  #isLast(ns: string, checkpoint: Checkpoint): boolean {
    const { triggers, fence } = this.#options;
    return ns === "" && fence !== undefined && triggers !== undefined && nothingFollows(checkpoint, triggers);
  }

  /** Releases the callers of pending items, which no longer need to be sent at once. */
  #relax(): void {
    this.#database.relax(new Set(this.#awaited.keys()));
    for (const relaxed of this.#awaited.values()) relaxed();
  }

  /** Throws the first failure: later writes would depend on lost ones, so none follow it. */
  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  async #blob(
    threadId: string,
    ns: string,
    channel: string,
    version: string | number,
    values: Record<string, unknown>,
  ): Promise<BlobRow> {
    const key = { threadId, ns, channel, version: String(version) };
    if (!Object.hasOwn(values, channel)) return { ...key, type: "empty", blob: null };
    const value = values[channel];
    if (Array.isArray(value) && value.length > 0 && !channel.startsWith("__")) {
      const row = await this.#lists.store(key, value);
      this.#checked(threadId, channel, [row.type, row.blob!]);
      return row;
    }
    const [type, blob] = this.#checked(threadId, channel, await this.#serde.dumpsTyped(value));
    return { ...key, type, blob };
  }

  /** @throws ValueTooLargeError when a value as it is stored exceeds the limit */
  #checked<T extends [string, Uint8Array]>(threadId: string, channel: string, typed: T): T {
    const limit = this.#database.maxValueBytes;
    if (typed[1].byteLength > limit) throw new ValueTooLargeError(threadId, channel, typed[1].byteLength, limit);
    return typed;
  }

  async #dumpText(value: unknown): Promise<string> {
    const [, bytes] = await this.#serde.dumpsTyped(value);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  }
}

function noop(): void {}

function address(config: RunnableConfig, operation: string): { threadId: string; ns: string } {
  const { thread_id: threadId, checkpoint_ns: ns = "" } = config.configurable ?? {};
  if (threadId === undefined) throw new Error(`Cannot ${operation}: the config has no "thread_id"`);
  return { threadId, ns };
}
