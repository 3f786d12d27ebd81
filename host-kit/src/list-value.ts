import type { ListItem } from "./list-item.ts";
import { splitArray } from "./split-array.ts";

/** Version of a channel's list. */
export interface ListValue {
  items: ListItem[];
  version: string;
  /** Version from which the changes of this one count; null where the whole list is stored. */
  chain: string | null;
  /** Number of changes between the chain's first version and this one. */
  depth: number;
  /** Bytes that the chain takes up to this version, with the overhead of rows. */
  cost: number;
}

/** Row of a list version: the whole list as the official saver stores it, or the change since `base`. */
export interface ListRow {
  type: "json" | typeof LIST_TYPE;
  text: string;
  base: string | null;
  chain: string | null;
  depth: number | null;
}

/** Type of a row that holds a change; the official saver rejects it by name. */
export const LIST_TYPE = "list";

/** Type of such a row in a thread of a Python graph (graph-host-python/heddle_host/checkpoints/list_changes.py). */
export const MSGPACK_CHANGE = "msgpack-list";

/** Lists with less text are always stored whole. */
export const WHOLE_BYTES = 4096;

/** Size of a row besides its value: header, keys and index entry. */
const ROW_BYTES = 256;
/** Slack before a whole list is stored again. */
const SLACK_BYTES = 64 * 1024;

export function listSize(items: readonly ListItem[]): number {
  let size = 2;
  for (const item of items) size += item.text.length + 1;
  return size;
}

/**
 * Encodes a list as the change since `base` where that is small. A chain may take twice the list's own size and some
 * slack; then the list is stored whole. So what is stored stays proportional to what was new, and what is read to the
 * list, however the list is used: appended to, cut to its last items or rewritten.
 */
export function encodeList(
  items: ListItem[],
  version: string,
  base: ListValue | undefined,
): { row: ListRow; list: ListValue } {
  const size = listSize(items);
  if (base) {
    const text = encodeChange(base.items, items);
    const cost = base.cost + text.length + ROW_BYTES;
    if (cost <= 2 * size + SLACK_BYTES && text.length < size) {
      const chain = base.chain ?? base.version;
      const depth = base.depth + 1;
      return {
        row: { type: LIST_TYPE, text, base: base.version, chain, depth },
        list: { items, version, chain, depth, cost },
      };
    }
  }
  const text = `[${items.map((item) => item.text).join(",")}]`;
  return {
    row: { type: "json", text, base: null, chain: null, depth: null },
    list: { items, version, chain: null, depth: 0, cost: size + ROW_BYTES },
  };
}

/** Decodes a row that holds the whole list; undefined when its value is no array. */
export function wholeList(text: string, version: string): ListValue | undefined {
  const texts = splitArray(text);
  if (!texts) return undefined;
  return {
    items: texts.map((item) => ({ text: item })),
    version,
    chain: null,
    depth: 0,
    cost: text.length + ROW_BYTES,
  };
}

/** Part of a change: a range of the base's items, or the length of the text of a new item. */
type Part = [from: number, to: number] | number;

/** Format: the parts as JSON, a line feed, the texts of the new items one after another. */
function encodeChange(base: readonly ListItem[], items: readonly ListItem[]): string {
  const parts: Part[] = [];
  const added: string[] = [];
  const keep = (from: number, to: number): void => {
    const last = parts.at(-1);
    if (Array.isArray(last) && last[1] === from) last[1] = to;
    else if (to > from) parts.push([from, to]);
  };
  const isSame = (a: ListItem, b: ListItem): boolean => a === b || a.text === b.text;
  let same = 0;
  while (same < items.length && same < base.length && isSame(items[same]!, base[same]!)) same += 1;
  keep(0, same);
  let places: Map<string, number> | undefined;
  for (let i = same; i < items.length; i++) {
    const item = items[i]!;
    const last = parts.at(-1);
    const next = Array.isArray(last) ? base[last[1]] : undefined;
    if (next && isSame(next, item)) {
      (last as [number, number])[1] += 1;
      continue;
    }
    if (same < base.length) places ??= new Map(base.map(({ text }, at) => [text, at]));
    const at = places?.get(item.text);
    if (at !== undefined) keep(at, at + 1);
    else {
      parts.push(item.text.length);
      added.push(item.text);
    }
  }
  return `${JSON.stringify(parts)}\n${added.join("")}`;
}

/** Builds versions of a list from the rows of its chain, in order. */
export class ListBuilder {
  #items: ListItem[];
  #last: ListValue;

  constructor(base: ListValue) {
    this.#items = base.items.slice();
    this.#last = base;
  }

  /** Applies the change in a row's text. */
  apply(text: string, version: string): void {
    const end = text.indexOf("\n");
    const parts = JSON.parse(text.slice(0, end)) as Part[];
    let at = end + 1;
    const [first] = parts;
    const appends = Array.isArray(first) && first[0] === 0 && first[1] === this.#items.length;
    const before = this.#items;
    if (!appends) this.#items = [];
    for (const part of appends ? parts.slice(1) : parts) {
      if (Array.isArray(part)) for (let i = part[0]; i < part[1]; i++) this.#items.push(before[i]!);
      else {
        this.#items.push({ text: text.slice(at, at + part) });
        at += part;
      }
    }
    const { chain, version: base, depth, cost } = this.#last;
    this.#last = {
      items: this.#items,
      version,
      chain: chain ?? base,
      depth: depth + 1,
      cost: cost + text.length + ROW_BYTES,
    };
  }

  /** Returns the version reached. */
  build(): ListValue {
    return { ...this.#last, items: this.#items.slice() };
  }
}
