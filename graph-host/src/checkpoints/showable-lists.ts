import type { StoredCheckpoint } from "./read-statement.ts";

/** Kinds of channels whose value in a checkpoint is the channel's value, unchanged. */
const PLAIN_CHANNELS = new Set(["LastValue", "BinaryOperatorAggregate"]);

const known = new WeakMap<object, ReadonlySet<string>>();

/** Returns the channels of a graph whose lists need not be loaded to show them: the library only passes them on. */
export function showableLists(graph: unknown): ReadonlySet<string> {
  const { channels } = graph as { channels?: Record<string, { lc_graph_name?: unknown }> };
  if (typeof channels !== "object" || channels === null) return new Set();
  let names = known.get(channels);
  if (!names) {
    names = new Set(
      Object.entries(channels)
        .filter(([, channel]) => PLAIN_CHANNELS.has(String(channel?.lc_graph_name)))
        .map(([name]) => name),
    );
    known.set(channels, names);
  }
  return names;
}

/** Writes that record how a task ended; no reducer applies them. */
const OUTCOMES = new Set(["__error__", "__interrupt__", "__scheduled__", "__resume__"]);
/** Task of writes that belong to the thread, not to a task. */
const NULL_TASK = "00000000-0000-0000-0000-000000000000";

/**
 * Whether the library applies no reducer to a checkpoint of the root graph when it reads its state. To the head it
 * applies the pending writes of all tasks, to others only those of the thread.
 */
export function passesListsOn({ ns, writes, parentSends }: StoredCheckpoint, asHead: boolean): boolean {
  if (ns !== "" || parentSends.length > 0) return false;
  return writes.every(({ channel, taskId }) => OUTCOMES.has(channel) || (!asHead && taskId !== NULL_TASK));
}

/** Field of a config for reads that need the tasks of a checkpoint and not its long lists. */
export const WITHOUT_LISTS = "__heddle_without_lists";
