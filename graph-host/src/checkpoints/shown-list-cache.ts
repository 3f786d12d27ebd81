import { type ListValue, listSize } from "../../../host-kit/src/list-value.ts";
import type { StoredCheckpoint } from "./read-statement.ts";

const TOTAL_BYTES = 32 * 1024 * 1024;
/** An item holds its stored text and the text that the API shows. */
const TEXTS = 2;

/** Number of changes by which the kept lists may be older than what a read needs: fewer than a long history has. */
const SLACK_CHANGES = 100;

interface Kept {
  lists: Map<string, ListValue>;
  bytes: number;
  /** Requested length of the longest history whose oldest state is not older than these lists. */
  states: number;
}

/**
 * Lists of checkpoints that were read to be shown: of the newest one, or of the oldest of a history. The next read of the
 * thread reads only what has changed since. Bounded in bytes; the thread that was read least recently is evicted first.
 */
export class ShownListCache {
  #threads = new Map<string, Kept>();
  #bytes = 0;

  get(threadId: string): Map<string, ListValue> | undefined {
    return this.#threads.get(threadId)?.lists;
  }

  /** Returns lists that are old enough for a history of that many states: those of one that was at least as long. */
  getForHistory(threadId: string, states: number): Map<string, ListValue> | undefined {
    const kept = this.#threads.get(threadId);
    return kept && states <= kept.states ? kept.lists : undefined;
  }

  /** Keeps the lists of the oldest of a history's states, unless those that are kept are hardly older. */
  keepOldest(stored: StoredCheckpoint, states: number): void {
    const kept = this.#threads.get(stored.threadId);
    const found = [...stored.values].flatMap(([channel, { list }]) => (list ? [{ channel, list }] : []));
    // a state from before the list was long: the kept lists serve shorter histories only
    if (kept && found.length === 0) return;
    const serves = kept && found.every(({ channel, list }) => isShortlyBefore(kept.lists.get(channel), list));
    if (serves) kept.states = Math.max(kept.states, states);
    else this.keep(stored, states);
  }

  keep({ threadId, values }: StoredCheckpoint, states = 1): void {
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
    this.#threads.set(threadId, { lists, bytes, states });
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
