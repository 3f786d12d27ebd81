import type { CheckpointDatabase } from "./checkpoints/checkpoint-database.ts";
import { LastHeads } from "./checkpoints/last-heads.ts";
import type { ReadCheckpoints, StoredCheckpoint } from "./checkpoints/read-statement.ts";
import type { CheckpointRow, WriteItem } from "./checkpoints/rows.ts";
import { ShownListCache } from "./checkpoints/shown-list-cache.ts";

/** Creates a checkpoint database for `warmUp`, which remembers only the newest checkpoint of one thread. */
export function rehearsalDatabase(): CheckpointDatabase {
  const values: StoredCheckpoint["values"] = new Map();
  let newest: CheckpointRow | undefined;
  const write = ({ checkpoint, blobs }: WriteItem) => {
    for (const { channel, version, type, blob } of blobs) values.set(channel, { version, type, data: blob ?? "" });
    if (checkpoint?.ns === "") newest = checkpoint;
    return Promise.resolve(undefined);
  };
  const read = (): Promise<ReadCheckpoints> =>
    Promise.resolve({
      checkpoints: newest ? [{ ...newest, values: new Map(values), writes: [], parentSends: [] }] : [],
      newest: newest?.id,
    });
  const nothing = { value: () => {} };
  // implements only what a saver calls
  return Object.create(null, {
    write: { value: write },
    lastHeads: { value: new LastHeads() },
    shownLists: { value: new ShownListCache() },
    historyLists: { value: new ShownListCache() },
    read: { value: read },
    hurry: nothing,
    relax: nothing,
  }) as CheckpointDatabase;
}
