import type { Checkpoint } from "@langchain/langgraph-checkpoint";

const TASKS = "__pregel_tasks";
/** Channels that are in a checkpoint exactly when they are available to the nodes that wait for them. */
const CONSUMED = /^(branch:to:.*|__start__)$/;

/** The part of a compiled graph that says what starts its nodes. */
export type Triggers = Record<string, readonly string[]>;

/** What starts each node of a graph; undefined for an object that does not look like one. */
export function triggersOf(graph: unknown): Triggers | undefined {
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
 * True when no node can follow a checkpoint: nothing that starts one has changed since that node saw it, and no
 * task was sent. (A join's channel is always in the checkpoint: graphs that join are judged not sure.) Then no user code depends on the checkpoint being kept, and the run's end can be written with
 * it. Where it is not sure the answer is false, which costs a round trip and nothing else.
 */
export function nothingFollows(checkpoint: Checkpoint, triggers: Triggers): boolean {
  const { channel_versions: versions, versions_seen: seen, channel_values: values } = checkpoint;
  const sent = values[TASKS];
  if (sent !== undefined && !(Array.isArray(sent) && sent.length === 0)) return false;
  return Object.entries(triggers).every(([node, channels]) =>
    channels.every((channel) => {
      const version = versions[channel];
      if (version === undefined) return true;
      const last = seen[node]?.[channel];
      if (last !== undefined && version <= last) return true;
      // consumed channels get a new version too; a checkpoint does not hold their value
      return CONSUMED.test(channel) && !Object.hasOwn(values, channel);
    }),
  );
}
