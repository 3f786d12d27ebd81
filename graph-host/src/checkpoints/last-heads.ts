import type { StoredCheckpoint } from "./read-statement.ts";

const TOTAL_BYTES = 16 * 1024 * 1024;
/** Size limit of one checkpoint. Larger ones are rare, costly to keep, and quick to read in comparison. */
const ONE_BYTES = 256 * 1024;
/** Overhead of the objects around the texts, measured on checkpoints of few channels. */
const OVERHEAD_BYTES = 2048;

/**
 * Checkpoints with which runs of this process ended, in stored form. The next run of the same thread starts from one
 * without reading it, once the database has confirmed, under the thread's lock, that it is still the newest. Bounded in
 * bytes; the thread whose last run ended earliest is evicted first.
 */
export class LastHeads {
  #heads = new Map<string, { head: StoredCheckpoint; bytes: number }>();
  #bytes = 0;

  /** Keeps a checkpoint of a root graph that has no tasks left: any other may still receive writes. */
  keep(head: StoredCheckpoint): void {
    this.#forget(head.threadId);
    if (head.ns !== "" || head.writes.length > 0 || head.parentSends.length > 0) return;
    const bytes = weight(head);
    if (bytes > ONE_BYTES) return;
    this.#heads.set(head.threadId, { head, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#heads.keys()) {
      if (this.#bytes <= TOTAL_BYTES) return;
      this.#forget(oldest);
    }
  }

  /** Returns a copy, to which the caller may add writes. */
  get(threadId: string, id: string): StoredCheckpoint | undefined {
    const entry = this.#heads.get(threadId);
    if (entry?.head.id !== id) return undefined;
    return { ...entry.head, writes: [], parentSends: [] };
  }

  get bytes(): number {
    return this.#bytes;
  }

  #forget(threadId: string): void {
    this.#bytes -= this.#heads.get(threadId)?.bytes ?? 0;
    this.#heads.delete(threadId);
  }
}

function weight(head: StoredCheckpoint): number {
  let bytes = OVERHEAD_BYTES + head.checkpoint.length + head.metadata.length;
  for (const { data } of head.values.values()) bytes += data.length;
  return bytes;
}
