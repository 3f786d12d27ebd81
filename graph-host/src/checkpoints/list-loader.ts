import { isUnchanged, shadowOf, UNTRACKABLE } from "../../../host-kit/src/item-shadow.ts";
import { type ListItem, type LiveItem, StoredItem } from "../../../host-kit/src/list-item.ts";
import type { ListValue } from "../../../host-kit/src/list-value.ts";
import { wireOf } from "./item-wire.ts";
import type { PlainFirstSerializer } from "./serializer.ts";
import { TimeSlice } from "../time-slice.ts";
import { markStored } from "./stored-items.ts";

/** Number of items that are loaded between two looks at the clock. */
const SLICE_ITEMS = 32;

/** The values of a list that was loaded or put, with their items in the same order. */
interface Known {
  items: readonly ListItem[];
  /** Value and shadow of each item; undefined where the value cannot be recognized. */
  values: readonly (LiveItem | undefined)[];
  /** Positions by object, for a list whose items have moved. */
  places?: Map<object, number>;
}

/**
 * Converts the lists of one saver's checkpoints between stored items and values. It remembers which object belongs to
 * which item, so that a put serializes only objects that are new or have changed.
 */
export class ListLoader {
  #serde: PlainFirstSerializer;
  #dump: (value: unknown) => Promise<string>;
  /** Whether the caller only reads, so that values may be shared and need not be recognized later. */
  #onlyReads: boolean;
  /** Values of the newest version of each list. */
  #known = new Map<string, Known>();
  /** Values that were loaded first, for the next run of the thread. */
  #loaded = new Map<string, Known>();
  #shared = new Map<ListItem, unknown>();

  constructor(serde: PlainFirstSerializer, dump: (value: unknown) => Promise<string>, onlyReads: boolean) {
    this.#serde = serde;
    this.#dump = dump;
    this.#onlyReads = onlyReads;
  }

  /** Returns the list's values: its own objects for each call, unless the caller only reads. */
  async load(name: string, { items }: ListValue): Promise<unknown[]> {
    const values = Array.from<unknown>({ length: items.length });
    const live = Array.from<LiveItem | undefined>({ length: items.length });
    const slice = new TimeSlice();
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!;
      const at = this.#onlyReads ? undefined : take(item);
      if (at) {
        values[i] = at.object;
        live[i] = at;
        continue;
      }
      if (this.#onlyReads && this.#shared.has(item)) values[i] = this.#shared.get(item);
      else {
        const loaded = this.#serde.load(item.text);
        values[i] = loaded instanceof Promise ? await loaded : loaded;
        if (this.#onlyReads) this.#shared.set(item, values[i]);
        else live[i] = liveItem(values[i]);
      }
      const pause = i % SLICE_ITEMS === SLICE_ITEMS - 1 ? slice.next() : undefined;
      if (pause) await pause;
    }
    if (!this.#onlyReads) {
      const known = { items, values: live };
      this.#known.set(name, known);
      if (!this.#loaded.has(name)) this.#loaded.set(name, known);
    }
    return values;
  }

  /** Returns the list's items with the JSON text that the API shows, without their values. */
  async loadWire({ items }: ListValue): Promise<StoredItem[]> {
    const stored = Array.from<StoredItem>({ length: items.length });
    const slice = new TimeSlice();
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!;
      if (!item.stored) {
        if (item.wire === undefined) {
          const wire = wireOf(item, this.#serde);
          if (wire instanceof Promise) await wire;
        }
        item.stored = new StoredItem(item);
      }
      stored[i] = item.stored;
      const pause = i % SLICE_ITEMS === SLICE_ITEMS - 1 ? slice.next() : undefined;
      if (pause) await pause;
    }
    return markStored(stored);
  }

  /** Returns the items of a list that is put. Those of unchanged objects are the ones that they were loaded from. */
  async store(name: string, values: readonly unknown[]): Promise<ListItem[]> {
    const known = this.#known.get(name);
    const items = Array.from<ListItem>({ length: values.length });
    const dumps: Promise<void>[] = [];
    for (let i = 0; i < values.length; i++) {
      const at = known && placeOf(known, values[i], i);
      if (at !== undefined && isUnchanged(values[i], known!.values[at]!.shadow)) items[i] = known!.items[at]!;
      // all are serialized in this turn: the graph may change them afterwards
      else dumps.push(this.#dump(values[i]).then((text) => void (items[i] = { text })));
    }
    await Promise.all(dumps);
    return items;
  }

  /** Remembers the values of a list that was put, so that the next put recognizes them. */
  remember(name: string, values: readonly unknown[], items: readonly ListItem[]): void {
    const known = this.#known.get(name);
    const live = values.map((value, i) => {
      const at = known && placeOf(known, value, i);
      return at !== undefined && known!.items[at] === items[i] ? known!.values[at] : liveItem(value);
    });
    this.#known.set(name, { items, values: live });
  }

  /** Hands the objects of a list that were loaded over to the next run that loads it. */
  release(name: string, { items }: ListValue): void {
    const loaded = this.#loaded.get(name);
    this.#loaded.delete(name);
    if (!loaded) return;
    let places: Map<ListItem, number> | undefined;
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!;
      if (loaded.items[i] !== item) places ??= new Map(loaded.items.map((other, at) => [other, at]));
      const at = loaded.items[i] === item ? i : places?.get(item);
      if (at !== undefined) item.live ??= loaded.values[at];
    }
  }
}

/** Takes the object of an item, for one caller, unless it has changed since it was loaded. */
function take(item: ListItem): LiveItem | undefined {
  const { live } = item;
  if (!live) return undefined;
  item.live = undefined;
  return isUnchanged(live.object, live.shadow) ? live : undefined;
}

function liveItem(value: unknown): LiveItem | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const shadow = shadowOf(value);
  return shadow === UNTRACKABLE ? undefined : { object: value, shadow };
}

/** Returns the position of an object in a known list, which is most often that in the new one. */
function placeOf(known: Known, value: unknown, expected: number): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (known.values[expected]?.object === value) return expected;
  // appended; an item that moved there is only serialized again
  if (expected >= known.values.length && !known.places) return undefined;
  known.places ??= new Map(known.values.flatMap((live, at) => (live ? [[live.object, at] as const] : [])));
  return known.places.get(value);
}
