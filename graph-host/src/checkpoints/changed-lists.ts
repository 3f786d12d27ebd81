import type { ListItem } from "../../../host-kit/src/list-item.ts";
import { storedItems } from "./stored-items.ts";
import { toJson } from "../serialize.ts";

/** The lists that a thread's values show, and the checkpoint whose values they are. */
export interface ShownLists {
  of: string;
  lists: ReadonlyMap<string, readonly ListItem[]>;
}

/** Compares the lists of a state with those that the thread's values show. */
export class ChangedLists {
  #shown: ShownLists | undefined;
  #lists = new Map<string, readonly ListItem[]>();

  constructor(shown: ShownLists | undefined) {
    this.#shown = shown;
  }

  /** The checkpoint on whose values the changes count; undefined when they are unknown. */
  get base(): string | undefined {
    return this.#shown?.of;
  }

  /** Returns the number of leading items that are shown already, and the JSON texts of the others. */
  listChange(channel: string, list: readonly unknown[]): { keep: number; items: string[] } {
    const items = storedItems(list);
    if (!items) return { keep: 0, items: Array.from(list, toJson) };
    const shown = this.#shown?.lists.get(channel) ?? [];
    let keep = 0;
    while (keep < items.length && keep < shown.length && isSame(items[keep]!.item, shown[keep]!)) keep += 1;
    return { keep, items: items.slice(keep).map(({ wire }) => wire) };
  }

  /** Records that the values will show a list item by item. */
  isStored(channel: string, list: readonly unknown[]): void {
    const items = storedItems(list);
    if (items)
      this.#lists.set(
        channel,
        items.map(({ item }) => item),
      );
  }

  /** Returns what the values show once the state of a checkpoint is written. */
  shownAt(of: string): ShownLists | undefined {
    return this.#lists.size > 0 ? { of, lists: this.#lists } : undefined;
  }
}

const isSame = (a: ListItem, b: ListItem): boolean => a === b || a.text === b.text;
