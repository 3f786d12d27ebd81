import type { StoredCheckpoint } from "./read-statement.ts";

const TOTAL_BYTES = 16 * 1024 * 1024;
/** A larger one is rare, costs more to keep, and is read in a time that hardly shows. */
const ONE_BYTES = 256 * 1024;
/** Objects around the texts, measured on checkpoints of few channels. */
const OVERHEAD_BYTES = 2048;

/**
 * The checkpoints that runs of this process have ended with, in their stored form. The next run of the same
 * thread starts from one without reading it, when the database has said, under the thread's lock, that it is
 * still the newest. Bounded in bytes; the thread that was not used for longest is forgotten first.
 */
export class LastHeads {
  #heads = new Map<string, { head: StoredCheckpoint; bytes: number }>();
  #bytes = 0;

  /** Only of the root graph, and only when no task of it is left: writes may still come beside any other. */
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

  /** A copy that its taker may add writes to. */
  get(threadId: string, id: string): StoredCheckpoint | undefined {
    const kept = this.#heads.get(threadId);
    if (kept?.head.id !== id) return undefined;
    return { ...kept.head, writes: [], parentSends: [] };
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
