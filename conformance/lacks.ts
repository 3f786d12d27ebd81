/** What versions of LangGraph lack: cases that are left out for them, and are listed in docs/versions.md. */
export type Language = "javascript" | "python";

interface Lack {
  /** Versions below lack it. */
  until: Partial<Record<Language, string>>;
  /** Versions below this one have it again. */
  since?: Partial<Record<Language, string>>;
  reason: string;
}

export const LACKS = {
  "state updates without values": { until: { javascript: "0.2.59" }, reason: "LangGraph fails with a TypeError" },
  "interrupt ids": {
    until: { javascript: "0.4.0" },
    reason: "interrupts have no ids, so several at once cannot be answered one by one, nor any by A2A and MCP",
  },
  "answers to some interrupts": {
    until: { javascript: "0.4.5" },
    reason: "answers by id to some of several interrupts also answer the others",
  },
  "interrupts in mode values": {
    until: { javascript: "0.3.6", python: "1.0.4" },
    reason: "they are in mode updates only; the server adds them",
  },
  "contexts of a schema library": {
    until: { python: "0.6.2" },
    reason: "nodes get their context as it was sent, not as the schema makes it",
  },
  "several questions of one task": {
    until: { python: "0.6.5" },
    reason: "a task's second question cannot be answered by its id",
  },
  "lone surrogates": {
    until: { python: "1.0.1" },
    reason: "langgraph-checkpoint 2 cannot store a message with half of a surrogate pair",
  },
  "updates of older states": {
    since: { python: "0.6.9" },
    until: { python: "1.0.3" },
    reason: "an update of an older state also gets what the step after it has written",
  },
  "nested drawings": {
    until: { javascript: "1.4.0" },
    reason: "LangGraph does not draw what is within a node",
  },
  context: { until: { javascript: "0.4.0" }, reason: "nodes have no context" },
  durability: { until: { javascript: "0.4.0" }, reason: "each checkpoint is stored when its step ends" },
  "namespaces of mode custom": {
    until: { javascript: "0.4.5" },
    reason: "custom chunks of subgraphs have the root's namespace",
  },
  "protocol v2": {
    until: { javascript: "1.4.0", python: "1.2.0" },
    reason: "LangGraph has no stream events of version 3",
  },
  "stream modes tasks and checkpoints": {
    until: { javascript: "0.3.6" },
    reason: "their events are in mode debug",
  },
  "schemas of zod": {
    until: { javascript: "1.0.0" },
    reason: "states are not built from schemas of zod with reducers",
  },
  "stream mode tools": {
    until: { javascript: "1.2.0", python: "1.2.0" },
    reason: "LangGraph sends no events of tools",
  },
  "namespaces of messages without tasks": {
    until: { javascript: "1.7.0" },
    reason: "LangGraph adds the node's own task, which the server removes",
  },
} satisfies Record<string, Lack>;

export type Feature = keyof typeof LACKS;

/** Returns the features that a version lacks. */
export function lackedBy(language: Language, version: string): Feature[] {
  return (Object.keys(LACKS) as Feature[]).filter((feature) => {
    const { until, since }: Lack = LACKS[feature];
    const [end, start] = [until[language], since?.[language]];
    return end !== undefined && isBelow(version, end) && (start === undefined || !isBelow(version, start));
  });
}

/** Whether a version is older than another. */
export function isBelow(version: string, other: string): boolean {
  return version.localeCompare(other, "en", { numeric: true }) < 0;
}
