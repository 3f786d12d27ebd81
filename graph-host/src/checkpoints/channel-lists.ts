import { ListLoader } from "./list-loader.ts";
import type { ListItem, StoredItem } from "../../../host-kit/src/list-item.ts";
import { encodeList, type ListValue, listSize, WHOLE_BYTES } from "../../../host-kit/src/list-value.ts";
import type { StoredCheckpoint } from "./read-statement.ts";
import type { BlobRow } from "./rows.ts";
import type { PlainFirstSerializer } from "./serializer.ts";

interface Options {
  onlyReads: boolean;
  /** Whether lists are stored whole, because a server cannot read changes. */
  storesWhole(): boolean;
}

/** Lists in the channels of one saver's checkpoints: loads their values, and stores them as changes. */
export class ChannelLists {
  #loader: ListLoader;
  #storesWhole: () => boolean;
  /** Newest list of each channel that was loaded or put: changes are stored relative to it. */
  #newest = new Map<string, ListValue>();

  constructor(serde: PlainFirstSerializer, dump: (value: unknown) => Promise<string>, options: Options) {
    this.#loader = new ListLoader(serde, dump, options.onlyReads);
    this.#storesWhole = options.storesWhole;
  }

  /** Returns the values of a list, for one caller. */
  load(ns: string, channel: string, list: ListValue): Promise<unknown[]> {
    const name = listName(ns, channel);
    if (!this.#newest.has(name)) this.#newest.set(name, list);
    return this.#loader.load(name, list);
  }

  /** Returns the items of a list with the JSON text that the API shows, without their values. */
  loadWire(list: ListValue): Promise<StoredItem[]> {
    return this.#loader.loadWire(list);
  }

  async store(
    key: Pick<BlobRow, "threadId" | "ns" | "channel" | "version">,
    values: readonly unknown[],
  ): Promise<BlobRow> {
    const name = listName(key.ns, key.channel);
    const base = this.#newest.get(name);
    const items = await this.#loader.store(name, values);
    if (listSize(items) < WHOLE_BYTES) {
      this.#newest.delete(name);
      return { ...key, type: "json", blob: wholeText(items) };
    }
    this.#loader.remember(name, values, items);
    // put again: the row that is stored stays
    if (base?.version === key.version) return { ...key, type: "json", blob: wholeText(items), list: base };
    const { row, list } = encodeList(items, key.version, this.#storesWhole() ? undefined : base);
    this.#newest.set(name, list);
    const link = row.base === null ? null : `${row.base}/${row.chain}/${row.depth}`;
    return { ...key, type: row.type, blob: Buffer.from(row.text), link, list };
  }

  /** Hands the objects of a checkpoint's lists over to the thread's next run in this process. */
  release({ ns, values }: StoredCheckpoint): void {
    for (const [channel, { list }] of values) if (list) this.#loader.release(listName(ns, channel), list);
  }
}

const listName = (ns: string, channel: string): string => `${ns}\0${channel}`;

const wholeText = (items: readonly ListItem[]): Buffer => Buffer.from(`[${items.map(({ text }) => text).join(",")}]`);
