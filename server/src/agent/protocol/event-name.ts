/**
 * Channel and namespace of an event, by which readers filter. The database stores this object's JSON text as the
 * event's name.
 */
export interface EventName {
  channel: string;
  namespace: string[];
}

/** A reader's filter. */
export interface EventFilter {
  channels: readonly string[];
  /** Prefixes; empty or absent: every namespace. */
  namespaces?: readonly (readonly string[])[] | undefined;
  /** Number of segments allowed below the prefix. */
  depth?: number | undefined;
}

const CHANNELS = new Set([
  ...["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"],
]);

export const isChannel = (name: string): boolean => CHANNELS.has(name) || /^custom:./s.test(name);

export function parseName(text: string): EventName {
  const [channel, ...namespace] = JSON.parse(text) as [string, ...string[]];
  return { channel, namespace };
}

/** The protocol's method for events of a channel. `custom:<name>` and `custom` share one; `input` has its own. */
export function channelMethod(channel: string): string {
  if (channel === "input") return "input.requested";
  return channel.startsWith("custom:") ? "custom" : channel;
}

export function matches(filter: EventFilter, { channel, namespace }: EventName): boolean {
  const isSubscribed =
    filter.channels.includes(channel) || (channel.startsWith("custom:") && filter.channels.includes("custom"));
  if (!isSubscribed) return false;
  const { namespaces, depth } = filter;
  if (!namespaces || namespaces.length === 0) return true;
  return namespaces.some(
    (prefix) => isPrefix(prefix, namespace) && (depth === undefined || namespace.length - prefix.length <= depth),
  );
}

/** Whether `prefix` matches. A segment without a task id matches every task of that name. */
function isPrefix(prefix: readonly string[], namespace: readonly string[]): boolean {
  if (prefix.length > namespace.length) return false;
  return prefix.every((segment, i) => {
    const own = namespace[i]!;
    return own === segment || (!segment.includes(":") && own.slice(0, own.indexOf(":")) === segment);
  });
}
