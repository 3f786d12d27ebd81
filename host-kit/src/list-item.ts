import type { Shadow } from "./item-shadow.ts";

/** Item of a list value, in stored form. Versions of the list share the items that they have in common. */
export interface ListItem {
  /** JSON text as the serializer writes it. */
  text: string;
  /** JSON text as the API shows it, once it was needed. */
  wire?: string;
  /** What stands for the item in a state that is only shown, once it was needed. */
  stored?: StoredItem;
  /** Object that was loaded from the text and is not in use, with its shadow: the next run may take it. */
  live?: LiveItem | undefined;
}

export interface LiveItem {
  object: object;
  shadow: Shadow;
}

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
