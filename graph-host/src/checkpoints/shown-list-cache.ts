import { type ListValue, listSize } from "./list-value.ts";
import type { StoredCheckpoint } from "./read-statement.ts";

const TOTAL_BYTES = 32 * 1024 * 1024;
/** An item holds its stored text and the text that the API shows. */
const TEXTS = 2;

/**
 * Lists of the newest checkpoints that were read to be shown. The next read of the thread reads only what has changed
 * since. Bounded in bytes; the thread that was read least recently is evicted first.
 */
export class ShownListCache {
  #threads = new Map<string, { lists: Map<string, ListValue>; bytes: number }>();
  #bytes = 0;

  get(threadId: string): Map<string, ListValue> | undefined {
    return this.#threads.get(threadId)?.lists;
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
