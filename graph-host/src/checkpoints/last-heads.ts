import type { ShownLists } from "./changed-lists.ts";
import type { ListValue } from "../../../host-kit/src/list-value.ts";
import { listSize } from "../../../host-kit/src/list-value.ts";
import type { StoredCheckpoint } from "./read-statement.ts";

const TOTAL_BYTES = 64 * 1024 * 1024;
/** Size limit of one checkpoint. Larger ones are rare, costly to keep, and quick to read in comparison. */
const ONE_BYTES = 24 * 1024 * 1024;
/** Size limit of values that are not lists: they are loaded from their text each time. */
const ONE_TEXT_BYTES = 256 * 1024;
/** Overhead of the objects around the texts, measured on checkpoints of few channels. */
const OVERHEAD_BYTES = 2048;
/** Factor by which an item's text with its object and shadow exceeds the text, measured on messages of 250 bytes. */
const LIVE_FACTOR = 5;

/**
 * Checkpoints with which runs of this process ended, in stored form, and the items of their lists as objects. The next
 * run of the same thread starts from one without reading it, once the database has confirmed, under the thread's lock,
 * that it is still the newest; where it is not, the lists still save reading what both have in common. Bounded in bytes;
 * the thread whose last run ended earliest is evicted first.
 */
export class LastHeads {
  #heads = new Map<string, Kept>();
  #bytes = 0;

  /**
   * Keeps a checkpoint of a root graph. Only one without tasks can be the head of the next run: any other may still
   * receive writes. `shown`: the lists that the thread's values show.
   */
  keep(head: StoredCheckpoint, shown?: ShownLists): void {
    this.#forget(head.threadId);
    if (head.ns !== "") return;
    const isHead = head.writes.length === 0 && head.parentSends.length === 0;
    const [texts, lists] = weight(head);
    if (texts + lists > ONE_BYTES) return;
    const isSmall = texts <= ONE_TEXT_BYTES;
    if (!(isHead && isSmall) && lists === 0) return;
    const kept = isSmall ? head : { ...head, values: onlyLists(head) };
    const bytes = (isSmall ? texts : OVERHEAD_BYTES) + lists;
    this.#heads.set(head.threadId, { head: kept, isHead: isHead && isSmall, shown, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#heads.keys()) {
      if (this.#bytes <= TOTAL_BYTES) return;
      this.#forget(oldest);
    }
  }

  /** Returns a copy, to which the caller may add writes. */
  get(threadId: string, id: string): StoredCheckpoint | undefined {
    const entry = this.#heads.get(threadId);
    if (!entry?.isHead || entry.head.id !== id) return undefined;
    return { ...entry.head, writes: [], parentSends: [] };
  }

  /** Returns the lists of the thread's kept checkpoint by channel, whether or not it is still the newest. */
  lists(threadId: string): Map<string, ListValue> {
    const lists = new Map<string, ListValue>();
    for (const [channel, { list }] of this.#heads.get(threadId)?.head.values ?? []) if (list) lists.set(channel, list);
    return lists;
  }

  /** Returns the lists that the thread's values showed after the last run of this process. */
  shown(threadId: string): ShownLists | undefined {
    return this.#heads.get(threadId)?.shown;
  }

  get bytes(): number {
    return this.#bytes;
  }

  #forget(threadId: string): void {
    this.#bytes -= this.#heads.get(threadId)?.bytes ?? 0;
    this.#heads.delete(threadId);
  }
}

interface Kept {
  head: StoredCheckpoint;
  isHead: boolean;
  shown: ShownLists | undefined;
  bytes: number;
}

function onlyLists(head: StoredCheckpoint): StoredCheckpoint["values"] {
  return new Map([...head.values].filter(([, { list }]) => list));
}

/** Returns the bytes of the texts, and those of the lists. */
function weight(head: StoredCheckpoint): [texts: number, lists: number] {
  let texts = OVERHEAD_BYTES + head.checkpoint.length + head.metadata.length;
  let lists = 0;
  for (const { data, list } of head.values.values()) {
    if (list) lists += LIVE_FACTOR * listSize(list.items);
    else texts += data.length;
  }
  return [texts, lists];
}
