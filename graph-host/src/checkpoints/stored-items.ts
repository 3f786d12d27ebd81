import type { ListItem } from "./list-value.ts";

/** A list item whose JSON text is known, in place of its value where a state is only shown. */
export class StoredItem {
  readonly item: ListItem;

  constructor(item: ListItem) {
    this.item = item;
  }

  get wire(): string {
    return this.item.wire!;
  }

  /** For code that copies the list. */
  toJSON(): unknown {
    return JSON.parse(this.wire);
  }
}

const lists = new WeakMap<object, readonly StoredItem[]>();

/** Marks an array as a list of stored items, which `storedItems` then returns. */
export function markStored(list: StoredItem[]): StoredItem[] {
  lists.set(list, list);
  return list;
}

/** Returns the items of a list that was loaded without its values. */
export const storedItems = (list: object): readonly StoredItem[] | undefined => lists.get(list);
