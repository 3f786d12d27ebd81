/** Which attempt of which run writes. */
export interface Fence {
  runId: string;
  attempt: number;
}

/** The place of a state update: nothing newer than `newest` is on the thread, and no run is. */
export interface HeadGuard {
  threadId: string;
  /** The newest checkpoint of the root graph that the update knows; empty when there is none. */
  newest: string;
}

/** That a run has come to its end: its final status is written with its last checkpoint, in one commit. */
export interface FinishRow {
  threadId: string;
  /** JSON text of the thread's state after the run, as `finish_run` takes it. */
  state: string;
  /** Whether other servers must be told. */
  notify: boolean;
}

/** What `finish_run` answered; `lost`: the attempt was not the current one, or this is not known. */
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

/** `blob` is null for a channel that became empty (`type` is then `empty`). */
export interface BlobRow {
  threadId: string;
  ns: string;
  channel: string;
  version: string;
  type: string;
  blob: Uint8Array | null;
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

/** What is written together or not at all. Writing it twice is the same as writing it once. */
export interface WriteItem {
  fence: Fence | undefined;
  /** Of an update by hand, in place of a fence. Such an item goes in a statement of its own. */
  guard?: HeadGuard | undefined;
  checkpoint?: CheckpointRow;
  blobs: BlobRow[];
  writes: WriteRow[];
  finish?: FinishRow;
}

/** Bytes of an item, about: what decides how many fit in one statement. */
export function itemBytes(item: WriteItem): number {
  let bytes = item.checkpoint ? item.checkpoint.checkpoint.length + item.checkpoint.metadata.length : 0;
  for (const row of item.blobs) bytes += 200 + (row.blob?.length ?? 0);
  for (const row of item.writes) bytes += 200 + row.blob.length;
  if (item.finish) bytes += item.finish.state.length;
  return bytes;
}
