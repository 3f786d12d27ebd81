import type { StoredItem } from "../../../host-kit/src/list-item.ts";

const lists = new WeakMap<object, readonly StoredItem[]>();

/** Marks an array as a list of stored items, which `storedItems` then returns. */
export function markStored(list: StoredItem[]): StoredItem[] {
  lists.set(list, list);
  return list;
}

/** Returns the items of a list that was loaded without its values. */
export const storedItems = (list: object): readonly StoredItem[] | undefined => lists.get(list);
