import type { ListValue } from "../../../host-kit/src/list-value.ts";

/** Run and attempt that write. */
export interface Fence {
  runId: string;
  attempt: number;
}

/** Precondition of a state update: no namespace has a checkpoint newer than in `newest`, and no run is active. */
export interface HeadGuard {
  threadId: string;
  /** Newest checkpoint of each namespace that the update has read, the root graph's among them; empty for none. */
  newest: [ns: string, id: string][];
}

/** End of a run: its final status is written with its last checkpoint, in one commit. */
export interface FinishRow {
  threadId: string;
  /** JSON text of the thread's state after the run, as `finish_run` expects it. */
  state: string | Uint8Array;
  /** Whether other servers must be notified. */
  notify: boolean;
}

/**
 * Result of `finish_run`. `lost`: the attempt was not the current one, or this is unknown. `stale_values`: the run has not
 * ended, because the thread's values are not those that the state's lists continue.
 */
export interface Finished {
  outcome: string;
  /** Whether another run waits for the thread. */
  waiting: boolean;
}

/** `checkpoint` and `metadata` are JSON text that jsonb accepts. */
export interface CheckpointRow {
  threadId: string;
  ns: string;
  id: string;
  parentId: string | null;
  checkpoint: string;
  metadata: string;
}

/**
 * `blob` is null for a channel that became empty (`type` is then `empty`). `link` names the version that a change of a
 * list is based on, the first version of its chain and the number of changes, as "base/chain/depth". `list` is the value
 * where the blob holds a list.
 */
export interface BlobRow {
  threadId: string;
  ns: string;
  channel: string;
  version: string;
  type: string;
  blob: Uint8Array | null;
  link?: string | null;
  list?: ListValue | undefined;
}

/** `replaces`: a later write of the same task and index replaces this one (errors, interrupts, resumes). */
export interface WriteRow {
  threadId: string;
  ns: string;
  checkpointId: string;
  taskId: string;
  idx: number;
  channel: string;
  type: string;
  blob: Uint8Array;
  replaces: boolean;
}

/** Rows that are written atomically. Writing them is idempotent. */
export interface WriteItem {
  fence: Fence | undefined;
  /** For a manual update, instead of a fence. Such an item gets a separate statement. */
  guard?: HeadGuard | undefined;
  checkpoint?: CheckpointRow;
  blobs: BlobRow[];
  writes: WriteRow[];
  finish?: FinishRow;
}

/** Approximate size of an item in bytes, which limits how many fit in one statement. */
export function itemBytes(item: WriteItem): number {
  let bytes = item.checkpoint ? item.checkpoint.checkpoint.length + item.checkpoint.metadata.length : 0;
  for (const row of item.blobs) bytes += 200 + (row.blob?.length ?? 0);
  for (const row of item.writes) bytes += 200 + row.blob.length;
  if (item.finish) bytes += item.finish.state.length;
  return bytes;
}
