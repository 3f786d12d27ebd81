import type { Checkpoint } from "@langchain/langgraph-checkpoint";

const TASKS = "__pregel_tasks";
/** Channels that a checkpoint contains exactly when they are available to the nodes that wait for them. */
const CONSUMED = /^(branch:to:.*|__start__)$/;

/** Channels that trigger each node of a compiled graph. */
export type Triggers = Record<string, readonly string[]>;

/** Returns the triggers of each node of a graph; undefined for an object that does not look like one. */
export function readTriggers(graph: unknown): Triggers | undefined {
  const { nodes } = graph as { nodes?: Record<string, { triggers?: unknown }> };
  if (!nodes) return undefined;
  const triggers: Record<string, string[]> = {};
  for (const [name, node] of Object.entries(nodes)) {
    if (!Array.isArray(node?.triggers)) return undefined;
    triggers[name] = node.triggers as string[];
  }
  return triggers;
}

/**
 * True when no node can follow a checkpoint: no trigger of any node has changed since that node saw it, and no task was
 * sent. (A join's channel is always in the checkpoint: graphs with joins count as uncertain.) Then no user code depends
 * on the checkpoint being kept, and the run's end can be written with it. The answer is false where it is uncertain,
 * which only costs a round trip.
 */
export function nothingFollows(checkpoint: Checkpoint, triggers: Triggers): boolean {
  const { channel_versions: versions, versions_seen: seen, channel_values: values } = checkpoint;
  const sent = values[TASKS];
  if (sent !== undefined && !(Array.isArray(sent) && sent.length === 0)) return false;
  // formats below 4
  if ((checkpoint as { pending_sends?: unknown[] }).pending_sends?.length) return false;
  return Object.entries(triggers).every(([node, channels]) =>
    channels.every((channel) => {
      const version = versions[channel];
      if (version === undefined) return true;
      const last = seen[node]?.[channel];
      if (last !== undefined && version <= last) return true;
      // consumed channels also get a new version; a checkpoint does not contain their value
      return CONSUMED.test(channel) && !Object.hasOwn(values, channel);
    }),
  );
}
