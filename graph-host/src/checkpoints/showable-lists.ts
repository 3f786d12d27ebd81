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
