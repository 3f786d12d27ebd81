import type { Checkpoint } from "@langchain/langgraph-checkpoint";

import type { StoredChannel, StoredCheckpoint, StoredWrite } from "./read-statement.ts";
import { byTaskAndIndex } from "./read-statement.ts";
import type { BlobRow, CheckpointRow, WriteRow } from "./rows.ts";

/**
 * Newest checkpoint of each namespace that a run has put, in stored form, so that reading it back needs no query and
 * still yields fresh objects: a graph mutates the values that it receives.
 *
 * Holds only what the database would certainly return as well: one run at a time writes to a thread, which the fence
 * enforces. Anything uncertain (a value that was never seen, writes that arrived before their checkpoint) drops the
 * head, and the next read queries the database.
 */
export class Heads {
  #heads = new Map<string, StoredCheckpoint>();
  #stray = new Set<string>();

  get(threadId: string, ns: string, id?: string): StoredCheckpoint | undefined {
    const head = this.#heads.get(key(threadId, ns));
    return head && (id === undefined || head.id === id) ? head : undefined;
  }

  /** Records a checkpoint that was just read, when it is known to be the newest. */
  read(stored: StoredCheckpoint): void {
    this.#keep(stored);
  }

  /** Records a checkpoint that is being put; unchanged values are those of the previous head. */
  put(row: CheckpointRow, blobs: BlobRow[], { v, channel_versions: versions }: Pick<Checkpoint, Keys>): void {
    const head = this.get(row.threadId, row.ns);
    if (head && head.id > row.id) return;
    // formats before 4 keep a part of the state in the parent
    if (v < 4) return this.#forget(row.threadId, row.ns);
    const stored: StoredCheckpoint = { ...row, values: new Map(), writes: [], parentSends: [] };
    const changed = new Map(blobs.map((blob) => [blob.channel, blob]));
    for (const [channel, version] of Object.entries(versions)) {
      const blob = changed.get(channel);
      const value: StoredChannel | undefined = blob ? storedChannel(blob) : head?.values.get(channel);
      if (value?.version !== String(version)) return this.#forget(row.threadId, row.ns);
      stored.values.set(channel, value);
    }
    if (head?.id === row.id) stored.writes = head.writes;
    if (this.#stray.has(key(row.threadId, row.ns, row.id))) return this.#forget(row.threadId, row.ns);
    this.#keep(stored);
  }

  putWrites(rows: WriteRow[]): void {
    for (const row of rows) {
      const head = this.get(row.threadId, row.ns, row.checkpointId);
      if (!head) {
        this.#stray.add(key(row.threadId, row.ns, row.checkpointId));
        continue;
      }
      const write: StoredWrite = {
        type: row.type,
        data: row.blob,
        taskId: row.taskId,
        idx: row.idx,
        channel: row.channel,
      };
      const at = head.writes.findIndex((w) => w.taskId === row.taskId && w.idx === row.idx);
      if (at < 0) head.writes.push(write);
      else if (row.replaces) head.writes[at] = write;
    }
    const [row] = rows;
    if (row) this.get(row.threadId, row.ns, row.checkpointId)?.writes.sort(byTaskAndIndex);
  }

  clear(threadId: string): void {
    for (const [name, head] of this.#heads) if (head.threadId === threadId) this.#heads.delete(name);
  }

  #keep(stored: StoredCheckpoint): void {
    const name = key(stored.threadId, stored.ns);
    this.#heads.delete(name);
    this.#heads.set(name, stored);
    // a subgraph has a namespace per call: drop the oldest
    if (this.#heads.size > LIMIT) this.#heads.delete(this.#heads.keys().next().value!);
  }

  #forget(threadId: string, ns: string): void {
    this.#heads.delete(key(threadId, ns));
  }
}

function storedChannel({ type, blob, version, list }: BlobRow): StoredChannel {
  return list ? { type: "json", data: "", version, list } : { type, data: blob ?? "", version };
}

const LIMIT = 32;
type Keys = "v" | "channel_versions";

const key = (...parts: string[]): string => parts.join("\0");
