import type { RunnableConfig } from "@langchain/core/runnables";
import { emptyCheckpoint, WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
import type {
  Checkpoint,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
} from "@langchain/langgraph-checkpoint";

import { OtherLanguageError } from "./errors.ts";
import type { ListValue } from "../../../host-kit/src/list-value.ts";
import type { StoredCheckpoint, StoredWrite } from "./read-statement.ts";
import type { Serializer } from "./serializer.ts";

/** Name of the channel that holds sends; in formats below 4 the parent's writes held them. */
export const TASKS_CHANNEL = "__pregel_tasks";

/** Checkpoint of a format below 4: its sends are not a channel. */
export interface OldCheckpoint extends Checkpoint {
  pending_sends?: unknown[];
}

/** Whether the project's LangGraph (before 0.4) uses such a format. */
const keepsPendingSends = emptyCheckpoint().v < 4;

/** Begin of the types of values that LangGraph for Python stores. */
const MSGPACK = "msgpack";

/**
 * Converts a stored checkpoint to the library's tuple; `loadList` provides the values of lists.
 * @throws OtherLanguageError
 */
export async function loadTuple(
  stored: StoredCheckpoint,
  serde: Serializer,
  loadList: (channel: string, list: ListValue) => Promise<unknown[]>,
): Promise<CheckpointTuple> {
  const checkpoint = JSON.parse(stored.checkpoint) as Checkpoint;
  checkpoint.channel_versions ??= {};
  checkpoint.versions_seen ??= {};
  checkpoint.channel_values = {};
  const values = [...stored.values].filter(([, value]) => value.type !== "empty");
  const written = [...values.map(([, value]) => value), ...stored.parentSends, ...stored.writes];
  if (written.some(({ type }) => type.startsWith(MSGPACK))) throw new OtherLanguageError(stored.threadId);
  const loaded = await Promise.all(
    values.map(([channel, { type, data, list }]) => (list ? loadList(channel, list) : serde.loadsTyped(type, data))),
  );
  values.forEach(([channel], i) => define(checkpoint.channel_values, channel, loaded[i]));
  const sends = await Promise.all(stored.parentSends.map((w) => serde.loadsTyped(w.type, w.data)));
  if (keepsPendingSends) (checkpoint as OldCheckpoint).pending_sends = sends;
  else if (sends.length > 0) migrateSends(checkpoint, sends);
  const tuple: CheckpointTuple = {
    config: config(stored, stored.id),
    checkpoint,
    metadata: (await serde.loadsTyped("json", stored.metadata)) as CheckpointMetadata,
    pendingWrites: await loadWrites(withoutAnswered(stored.writes), serde),
  };
  if (stored.parentId) tuple.parentConfig = config(stored, stored.parentId);
  return tuple;
}

export function loadWrites(writes: StoredWrite[], serde: Serializer): Promise<CheckpointPendingWrite[]> {
  return Promise.all(
    writes.map(async (w): Promise<CheckpointPendingWrite> => [
      w.taskId,
      w.channel,
      await serde.loadsTyped(w.type, w.data),
    ]),
  );
}

/**
 * Drops interrupts of tasks that have since completed. Both the interrupt and the writes are on disk, because the rows
 * have different keys; the library drops the interrupt in memory.
 */
function withoutAnswered(writes: StoredWrite[]): StoredWrite[] {
  if (!writes.some((write) => write.channel === "__interrupt__")) return writes;
  const finished = new Set(writes.filter((write) => !(write.channel in WRITES_IDX_MAP)).map((write) => write.taskId));
  return writes.filter((write) => write.channel !== "__interrupt__" || !finished.has(write.taskId));
}

function config(stored: StoredCheckpoint, id: string): RunnableConfig {
  return { configurable: { thread_id: stored.threadId, checkpoint_ns: stored.ns, checkpoint_id: id } };
}

/** Moves the sends of a step into its checkpoint: formats below 4 kept them with the parent. */
function migrateSends(checkpoint: Checkpoint, sends: unknown[]): void {
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_values[TASKS_CHANNEL] = sends;
  checkpoint.channel_versions[TASKS_CHANNEL] =
    versions.length > 0 ? versions.reduce((max, v) => (greater(v, max) ? v : max)) : 1;
}

function greater(a: number | string, b: number | string): boolean {
  return typeof a === "number" && typeof b === "number" ? a > b : String(a).localeCompare(String(b)) > 0;
}

/** Defines a property; a channel may have any name, including `__proto__`. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}
