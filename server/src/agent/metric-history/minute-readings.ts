/**
 * Counts of events per minute, which a server keeps until the trace platform has them. A minute is sent whole, again
 * when it has grown, so that a repeated request changes nothing.
 */
import { binOf } from "../../base/duration-bins.ts";

export interface Reading {
  minute: string;
  kind: "run" | "wait" | "queue" | "cron" | "webhook";
  graph: string;
  assistant: string;
  status: string;
  count: number;
  seconds: number;
  bins: Record<string, number>;
}
type Labels = Pick<Reading, "kind"> & Partial<Pick<Reading, "graph" | "assistant" | "status">>;

interface Minute {
  readings: Map<string, Reading>;
  changes: number;
  /** `changes` when it was last sent. */
  sent: number;
}

/** Minutes that are kept while the trace platform does not answer. */
const MAX_MINUTES = 180;
/** Combinations of labels per minute; further assistants are one. */
const MAX_READINGS = 1000;
const OTHER = "(other)";
const MINUTE_MS = 60_000;

export class MinuteReadings {
  readonly #minutes = new Map<number, Minute>();

  /** Adds an event with its duration. */
  event(labels: Labels, seconds: number): void {
    const reading = this.#change(labels);
    reading.count += 1;
    reading.seconds += seconds;
    const bin = binOf(seconds);
    reading.bins[bin] = (reading.bins[bin] ?? 0) + 1;
  }

  /** Adds events without a duration. */
  add(labels: Labels, count: number): void {
    if (count > 0) this.#change(labels).count += count;
  }

  /** Keeps the highest values of a minute. Nothing is kept of an empty queue. */
  peak(labels: Labels, count: number, seconds: number): void {
    if (count === 0) return;
    const reading = this.#change(labels);
    reading.count = Math.max(reading.count, count);
    reading.seconds = Math.max(reading.seconds, seconds);
  }

  #change({ kind, graph = "", assistant = "", status = "" }: Labels): Reading {
    const at = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
    let minute = this.#minutes.get(at);
    if (!minute) {
      this.#minutes.set(at, (minute = { readings: new Map(), changes: 0, sent: 0 }));
      const [oldest] = this.#minutes.keys();
      if (this.#minutes.size > MAX_MINUTES) this.#minutes.delete(oldest!);
    }
    minute.changes += 1;
    const key = (of: string) => JSON.stringify([kind, graph, of, status]);
    const isFull = minute.readings.size >= MAX_READINGS && !minute.readings.has(key(assistant));
    const named = isFull && assistant !== "" ? OTHER : assistant;
    let reading = minute.readings.get(key(named));
    if (!reading) {
      const time = new Date(at).toISOString();
      reading = { minute: time, kind, graph, assistant: named, status, count: 0, seconds: 0, bins: {} };
      minute.readings.set(key(named), reading);
    }
    return reading;
  }

  /** Returns what has changed since it was sent; `confirm` is called when the trace platform has it. */
  unsent(): { readings: Reading[]; confirm(): void } {
    const changed = [...this.#minutes].filter(([, minute]) => minute.changes > minute.sent);
    const readings = changed.flatMap(([, minute]) => structuredClone([...minute.readings.values()]));
    const versions = changed.map(([at, minute]) => [at, minute, minute.changes] as const);
    const confirm = () => {
      for (const [at, minute, changes] of versions) {
        minute.sent = changes;
        const isOver = at + MINUTE_MS <= Date.now();
        if (isOver && minute.changes === changes) this.#minutes.delete(at);
      }
    };
    return { readings, confirm };
  }
}
