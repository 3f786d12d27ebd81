import type { RunResult } from "../../../host-kit/src/host-protocol.ts";
import { toFieldJson, toJson } from "../serialize.ts";

/** Lists of this many items, or of more text, are stored item by item. */
const LONG_LIST_ITEMS = 64;
const LONG_LIST_BYTES = 16 * 1024;
/** Names that are the same in Postgres, and short enough for an index. */
const SPLIT_NAME = /^[^\0\p{Surrogate}\ufffd]{1,200}$/u;

/** A list as it differs from the stored one: the first `keep` items of that, then `items`, a JSON text each. */
export interface ListChange {
  keep: number;
  items: string[];
}

/** Compares the lists of a state with those that the thread's row shows. */
export interface StoredLists {
  /** The checkpoint of the stored lists; needed if any item is kept. */
  base?: string | undefined;
  listChange(channel: string, list: readonly unknown[]): ListChange;
  /** Called for each list that is stored item by item. */
  isStored?(channel: string, list: readonly unknown[]): void;
}

/** For a thread whose stored lists are unknown: all items are sent, and Postgres writes those that differ. */
export const UNKNOWN_LISTS: StoredLists = {
  listChange: (_channel, list) => ({ keep: 0, items: Array.from(list, toJson) }),
};

/**
 * Serializes the head of a thread to the JSON text of a {@link RunResult}, each value once. Given `stored`, long lists are
 * in `lists`, the first field. A state without a checkpoint yields `{}`.
 */
export function stateText(head: RunResult, stored?: StoredLists): string {
  const { values, next, interrupts, of } = head;
  const { lists, others } = stored && isPlain(values) ? splitValues(values, stored) : { lists: "", others: undefined };
  const fields = [
    lists && `"lists":{${lists}}`,
    field("base", lists ? stored?.base : undefined),
    others === undefined ? field("values", values) : `"values":{${others}}`,
    field("next", next),
    field("interrupts", interrupts),
    field("of", of),
  ];
  return `{${fields.filter(Boolean).join(",")}}`;
}

function splitValues(values: object, stored: StoredLists): { lists: string; others: string } {
  const lists: string[] = [];
  const others: (string | undefined)[] = [];
  for (const [key, value] of Object.entries(values)) {
    if (!Array.isArray(value) || !SPLIT_NAME.test(key)) {
      others.push(field(key, value));
      continue;
    }
    const { keep, items } = stored.listChange(key, value);
    const text = `[${items.join(",")}]`;
    const isLong = keep > 0 || items.length >= LONG_LIST_ITEMS || Buffer.byteLength(text) > LONG_LIST_BYTES;
    if (isLong) {
      lists.push(`${toJson(key)}:{"keep":${keep},"items":${text}}`);
      stored.isStored?.(key, value);
    } else others.push(`${toJson(key)}:${text}`);
  }
  return { lists: lists.join(","), others: others.filter(Boolean).join(",") };
}

/** Returns a field of an object as JSON text; undefined where JSON.stringify would omit it. */
function field(key: string, value: unknown): string | undefined {
  const text = toFieldJson(value);
  return text === undefined ? undefined : `${toJson(key)}:${text}`;
}

/** Whether JSON.stringify would write the object's own fields. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !("toJSON" in value) && !("toDict" in value);
}
