import { type ListValue, listSize } from "./list-value.ts";
import type { StoredCheckpoint } from "./read-statement.ts";

const TOTAL_BYTES = 32 * 1024 * 1024;
/** An item holds its stored text and the text that the API shows. */
const TEXTS = 2;

/** Number of changes by which the kept lists may be older than what a read needs: fewer than a long history has. */
const SLACK_CHANGES = 100;

/**
 * Lists of checkpoints that were read to be shown: of the newest one, or of the oldest of a history. The next read of the
 * thread reads only what has changed since. Bounded in bytes; the thread that was read least recently is evicted first.
 */
export class ShownListCache {
  #threads = new Map<string, { lists: Map<string, ListValue>; bytes: number }>();
  #bytes = 0;

  get(threadId: string): Map<string, ListValue> | undefined {
    return this.#threads.get(threadId)?.lists;
  }

  /** Keeps the lists of a history's oldest checkpoint, unless those that are kept serve shorter and longer histories. */
  keepOldest(stored: StoredCheckpoint): void {
    const kept = this.get(stored.threadId);
    const serves = [...stored.values].every(
      ([channel, { list }]) => !list || isShortlyBefore(kept?.get(channel), list),
    );
    if (!kept || !serves) this.keep(stored);
  }

  keep({ threadId, values }: StoredCheckpoint): void {
    this.#bytes -= this.#threads.get(threadId)?.bytes ?? 0;
    this.#threads.delete(threadId);
    const lists = new Map<string, ListValue>();
    let bytes = 0;
    for (const [channel, { list }] of values) {
      if (!list) continue;
      lists.set(channel, list);
      bytes += TEXTS * listSize(list.items);
    }
    if (lists.size === 0 || bytes > TOTAL_BYTES / 2) return;
    this.#threads.set(threadId, { lists, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#threads.keys()) {
      if (this.#bytes <= TOTAL_BYTES) return;
      this.#bytes -= this.#threads.get(oldest)!.bytes;
      this.#threads.delete(oldest);
    }
  }
}

function isShortlyBefore(kept: ListValue | undefined, list: ListValue): boolean {
  if (!kept || (kept.chain ?? kept.version) !== (list.chain ?? list.version)) return false;
  return kept.depth <= list.depth && list.depth - kept.depth <= SLACK_CHANGES;
}
