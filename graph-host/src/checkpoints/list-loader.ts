import { setImmediate as turn } from "node:timers/promises";

import { isUnchanged, shadowOf, type Shadow, UNTRACKABLE } from "./item-shadow.ts";
import type { ListItem, ListValue, LiveItem } from "./list-value.ts";
import type { PlainFirstSerializer } from "./serializer.ts";

/** Longest time in milliseconds for which items are loaded without a turn of the event loop. */
const SLICE_MS = 10;
/** Number of items that are loaded between two looks at the clock. */
const SLICE_ITEMS = 32;

/**
 * Converts the lists of one saver's checkpoints between stored items and objects. It remembers which object came from
 * which item, so that a put serializes only objects that are new or have changed.
 */
export class ListLoader {
  #serde: PlainFirstSerializer;
  #dump: (value: unknown) => Promise<string>;
  /** Whether the caller only reads, so that nothing needs to be recognized later. */
  #onlyReads: boolean;
  /** Items of the objects that were loaded or serialized. */
  #items = new WeakMap<object, { item: ListItem; shadow: Shadow }>();
  /** Objects that were loaded for the graph, each for one caller. */
  #loaded = new Map<ListItem, LiveItem>();
  /** Whether callers only read, so that they may share objects. */
  #shares: boolean;

  constructor(serde: PlainFirstSerializer, dump: (value: unknown) => Promise<string>, onlyReads: boolean) {
    this.#serde = serde;
    this.#dump = dump;
    this.#onlyReads = onlyReads;
    this.#shares = onlyReads;
  }

  /** Shares loaded objects from now on: the graph has ended, and its state is only read. */
  share(): void {
    this.#shares = true;
  }

  /** Returns the list's values: objects of its own for each call, unless callers share them. */
  async load({ items }: ListValue): Promise<unknown[]> {
    const values = Array.from<unknown>({ length: items.length });
    let since = performance.now();
    for (let i = 0; i < items.length; i++) {
      values[i] = this.#taken(items[i]!);
      if (values[i] === undefined) {
        const loaded = this.#serde.load(items[i]!.text);
        values[i] = this.#bind(items[i]!, loaded instanceof Promise ? await loaded : loaded);
      }
      if (i % SLICE_ITEMS === SLICE_ITEMS - 1 && performance.now() - since > SLICE_MS) {
        await turn();
        since = performance.now();
      }
    }
    return values;
  }

  /** Returns the items of a list that is put. Those of unchanged objects are the ones that they were loaded from. */
  async store(values: readonly unknown[]): Promise<ListItem[]> {
    const items = Array.from<ListItem>({ length: values.length });
    const dumps: Promise<void>[] = [];
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      const known = typeof value === "object" && value !== null ? this.#items.get(value) : undefined;
      if (known && isUnchanged(value, known.shadow)) items[i] = known.item;
      // all are serialized in this turn: the graph may change them afterwards
      else dumps.push(this.#dump(value).then((text) => void (items[i] = { text })));
    }
    await Promise.all(dumps);
    return items;
  }

  /** Remembers the objects of a list that was put, so that the next put recognizes them. */
  remember(values: readonly unknown[], items: readonly ListItem[]): void {
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (typeof value !== "object" || value === null || this.#items.get(value)?.item === items[i]) continue;
      const shadow = shadowOf(value);
      if (shadow === UNTRACKABLE) this.#items.delete(value);
      else this.#items.set(value, { item: items[i]!, shadow });
    }
  }

  /** Hands the objects of a list over to the next run that loads it. */
  release({ items }: ListValue): void {
    for (const item of items) item.live ??= this.#loaded.get(item);
    this.#loaded.clear();
  }

  /** Returns the object of an item where one is at hand. */
  #taken(item: ListItem): object | undefined {
    const loaded = this.#loaded.get(item);
    if (loaded) {
      return this.#onlyReads || (this.#shares && isUnchanged(loaded.object, loaded.shadow)) ? loaded.object : undefined;
    }
    if (this.#onlyReads) return undefined;
    const { live } = item;
    if (!live) return undefined;
    item.live = undefined;
    if (!isUnchanged(live.object, live.shadow)) return undefined;
    this.#items.set(live.object, { item, shadow: live.shadow });
    this.#loaded.set(item, live);
    return live.object;
  }

  #bind(item: ListItem, value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    const shadow = this.#onlyReads ? undefined : shadowOf(value);
    if (shadow === UNTRACKABLE) return value;
    this.#items.set(value, { item, shadow });
    if (!this.#loaded.has(item)) this.#loaded.set(item, { object: value, shadow });
    return value;
  }
}
