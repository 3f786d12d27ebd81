/**
 * Events of protocol v2 among the frames of a run. Such a frame is named `protocol:` and the JSON of the event's channel
 * and namespace; its data is the event's `params`. The database numbers these events over the thread when it stores
 * them; readers of the run's own stream do not see them.
 */
import { oneLine } from "../../base/events/sse.ts";

export const EVENT_PREFIX = "protocol:";

const LIFECYCLE = `${EVENT_PREFIX}["lifecycle"]`;

export const isEvent = (frame: string): boolean => frame.startsWith(EVENT_PREFIX);

/** Returns the name of an event's frame with the line ends escaped that names of frames cannot contain. */
export const eventFrameName = (name: string): string => oneLine(name);

/** Name and data of the event that states why events of a run are missing. */
export function incompleteEvent(run: { runId: string; attempt: number; graph: string }, reason: string) {
  const data = { event: "incomplete", graph_name: run.graph, run_id: run.runId, attempt: run.attempt, reason };
  return { event: LIFECYCLE, data: JSON.stringify({ namespace: [], timestamp: Date.now(), data }) };
}

/** Matches the head of each event's frame, and the data of one that announces an interrupt. */
const EVENTS = /^event: protocol:(?:\["input"[,\]].*\ndata: (.*))?/gm;

export interface EventCount {
  events: number;
  /** Ids of the interrupts that the events announce, one per line; null: no event announces one. */
  interrupts: string | null;
}

/** Counts the events among frames in wire format. */
export function countEvents(frames: string): EventCount {
  if (!frames.includes(`event: ${EVENT_PREFIX}`)) return { events: 0, interrupts: null };
  const found = Array.from(frames.matchAll(EVENTS), ([, data]) => data);
  const asked = found.filter((data) => data !== undefined);
  const ids = asked.flatMap(
    (data) => (JSON.parse(data) as { data?: { interrupt_id?: string } }).data?.interrupt_id ?? [],
  );
  return { events: found.length, interrupts: asked.length === 0 ? null : ids.join("\n") };
}
