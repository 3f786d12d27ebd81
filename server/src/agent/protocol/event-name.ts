/** Where an event belongs: what it is filtered by. The JSON text of this is what the database keeps as its name. */
export interface EventName {
  channel: string;
  namespace: string[];
}

/** What a reader asked for, contract agent-server §19.3. */
export interface EventFilter {
  channels: readonly string[];
  /** Prefixes; none or absent: every namespace. */
  namespaces?: readonly (readonly string[])[] | undefined;
  /** How many segments below the prefix. */
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

/** `custom:<name>` and `custom` are told by the same method; what is asked of people has one of its own. */
export function methodOf(channel: string): string {
  if (channel === "input") return "input.requested";
  return channel.startsWith("custom:") ? "custom" : channel;
}

export function matches(filter: EventFilter, { channel, namespace }: EventName): boolean {
  const wanted =
    filter.channels.includes(channel) || (channel.startsWith("custom:") && filter.channels.includes("custom"));
  if (!wanted) return false;
  const { namespaces, depth } = filter;
  if (!namespaces || namespaces.length === 0) return true;
  return namespaces.some(
    (prefix) => isPrefix(prefix, namespace) && (depth === undefined || namespace.length - prefix.length <= depth),
  );
}

/** A segment without a task's id stands for every task of that name. */
function isPrefix(prefix: readonly string[], namespace: readonly string[]): boolean {
  if (prefix.length > namespace.length) return false;
  return prefix.every((segment, i) => {
    const own = namespace[i]!;
    return own === segment || (!segment.includes(":") && own.slice(0, own.indexOf(":")) === segment);
  });
}
