import type { Checkpoint } from "@langchain/langgraph-checkpoint";

import type { StoredCheckpoint, StoredValue, StoredWrite } from "./read-statement.ts";
import { byTaskAndIndex } from "./read-statement.ts";
import type { BlobRow, CheckpointRow, WriteRow } from "./rows.ts";

/**
 * The newest checkpoint of each namespace that a run has put, in its stored form, so that reading it back
 * needs no query and yet gives fresh objects: a graph changes the values that it is given.
 *
 * Only what the database is sure to answer too is kept: one run at a time writes to a thread, which the fence
 * enforces. Whatever is not certain (a value that was never seen, writes that came before their checkpoint)
 * forgets the head, and the next read asks the database.
 */
export class Heads {
  #heads = new Map<string, StoredCheckpoint>();
  #stray = new Set<string>();

  get(threadId: string, ns: string, id?: string): StoredCheckpoint | undefined {
    const head = this.#heads.get(key(threadId, ns));
    return head && (id === undefined || head.id === id) ? head : undefined;
  }

  /** A checkpoint as it was just read, when it is known to be the newest. */
  read(stored: StoredCheckpoint): void {
    this.#keep(stored);
  }

  /** A checkpoint as it is being put; the values that it did not change are those of the head before it. */
  put(row: CheckpointRow, blobs: BlobRow[], { v, channel_versions: versions }: Pick<Checkpoint, Keys>): void {
    const head = this.get(row.threadId, row.ns);
    if (head && head.id > row.id) return;
    // formats before 4 leave a part of the state with the parent
    if (v < 4) return this.#forget(row.threadId, row.ns);
    const stored: StoredCheckpoint = { ...row, values: new Map(), writes: [], parentSends: [] };
    const changed = new Map(blobs.map((blob) => [blob.channel, blob]));
    for (const [channel, version] of Object.entries(versions)) {
      const blob = changed.get(channel);
      const value: (StoredValue & { version: string }) | undefined = blob
        ? { type: blob.type, data: blob.blob ?? "", version: blob.version }
        : head?.values.get(channel);
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
    // a subgraph has a namespace for each time it is called: the oldest are forgotten
    if (this.#heads.size > LIMIT) this.#heads.delete(this.#heads.keys().next().value!);
  }

  #forget(threadId: string, ns: string): void {
    this.#heads.delete(key(threadId, ns));
  }
}

const LIMIT = 32;
type Keys = "v" | "channel_versions";

const key = (...parts: string[]): string => parts.join("\0");
