/**
 * Events of a run from all sources on one time axis. The axis covers the run's duration; later events, such as feedback
 * on the next day, are placed on a strip after it.
 */
export const LANES = ["Run", "Trace", "Checkpoints", "Webhooks", "Feedback", "Logs"] as const;
export type Lane = (typeof LANES)[number];

/** Object that an event belongs to. */
export type Target =
  | { kind: "trace"; runId: string }
  | { kind: "checkpoint"; id: string }
  | { kind: "delivery"; id: string }
  | { kind: "log"; id: string };

export interface RunEvent {
  key: string;
  lane: Lane;
  /** Milliseconds since 1970. */
  at: number;
  /** End of a period; null while it is active. Absent for an instant. */
  end?: number | null;
  label: string;
  detail?: string | undefined;
  isFailure?: boolean;
  target?: Target;
}

export interface RunSources {
  run: { status: string; created_at: string; updated_at: string };
  /** Runs of the trace, the root first. */
  spans: { id: string; name: string; start: number; end: number | null; error: string | null; depth: number }[];
  checkpoints: { id: string; at: string; step: number | null; source: string; next: string[] }[];
  deliveries: {
    delivery_id: string;
    url: string;
    status: string;
    attempts: number;
    created_at: string;
    finished_at: string | null;
  }[];
  feedback: {
    id: string;
    key: string;
    score?: unknown;
    value?: unknown;
    comment?: string | null;
    created_at: string;
  }[];
  logs: { id: string; timestamp: number; level: string; message: string; revision_id?: string }[];
}

export const isActive = (status: string): boolean => status === "pending" || status === "running";

/** What made a checkpoint, where it was not a step of the graph. */
const SOURCES: Record<string, string[]> = { update: ["state edited"], fork: ["forked"] };

/** Returns the events in order of time; simultaneous events in the order of the lanes. */
export function runEvents({ run, spans, checkpoints, deliveries, feedback, logs }: RunSources): RunEvent[] {
  const created = Date.parse(run.created_at);
  const root = spans.find(({ depth }) => depth === 0);
  const isOver = !isActive(run.status);
  const ended = isOver ? Date.parse(run.updated_at) : null;
  const firstWrite = checkpoints.map(({ at }) => Date.parse(at)).toSorted((a, b) => a - b)[0];
  const started = root?.start ?? firstWrite ?? null;
  const begin = started === null ? null : Math.max(created, started);
  const events: RunEvent[] = [
    {
      key: "queued",
      lane: "Run",
      at: created,
      end: begin ?? ended,
      label: "Queued",
    },
  ];
  if (begin !== null) {
    events.push({
      key: "execution",
      lane: "Run",
      at: begin,
      end: ended,
      label: isOver ? `Executed: ${run.status}` : "Running",
      isFailure: run.status === "error" || run.status === "timeout",
    });
  }
  for (const { id, name, start, end, error } of spans) {
    events.push({
      key: `span ${id}`,
      lane: "Trace",
      at: start,
      end,
      label: name,
      detail: error ?? undefined,
      isFailure: error !== null,
      target: { kind: "trace", runId: id },
    });
  }
  for (const { id, at, step, source, next } of checkpoints) {
    events.push({
      key: `checkpoint ${id}`,
      lane: "Checkpoints",
      at: Date.parse(at),
      label: step === null ? "Checkpoint" : step < 0 ? "Input" : `Step ${step}`,
      detail:
        [...(SOURCES[source] ?? []), ...(next.length > 0 ? [`next: ${next.join(", ")}`] : [])].join("; ") || undefined,
      target: { kind: "checkpoint", id },
    });
  }
  for (const { delivery_id: id, url, status, attempts, created_at, finished_at } of deliveries) {
    events.push({
      key: `delivery ${id}`,
      lane: "Webhooks",
      at: Date.parse(created_at),
      end: finished_at === null ? null : Date.parse(finished_at),
      label: `Webhook ${status}`,
      detail: `${url}, ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`,
      isFailure: status === "failed",
      target: { kind: "delivery", id },
    });
  }
  for (const { id, key, score, value, comment, created_at } of feedback) {
    const given = score ?? value;
    events.push({
      key: `feedback ${id}`,
      lane: "Feedback",
      at: Date.parse(created_at),
      label: given == null ? key : `${key} ${typeof given === "string" ? given : JSON.stringify(given)}`,
      detail: comment ?? undefined,
    });
  }
  for (const { id, timestamp, level, message } of logs) {
    events.push({
      key: `log ${id}`,
      lane: "Logs",
      at: timestamp,
      label: level,
      detail: message,
      isFailure: level === "ERROR" || level === "CRITICAL",
      target: { kind: "log", id },
    });
  }
  return events.toSorted((a, b) => a.at - b.at || LANES.indexOf(a.lane) - LANES.indexOf(b.lane));
}

export interface Axis {
  /** Start and end of the run, including its trace and checkpoints, in milliseconds since 1970. */
  from: number;
  to: number;
  /** Latest event after the run; null when there is none. */
  later: number | null;
}

/** Share of the width that the run takes when events follow it. */
const RUN_SHARE = 0.86;

/** @param now end of an active run */
export function runAxis(events: readonly RunEvent[], now: number): Axis {
  const own = events.filter(({ lane }) => lane === "Run" || lane === "Trace" || lane === "Checkpoints");
  const from = Math.min(...events.map(({ at }) => at));
  const to = Math.max(from + 1, ...own.map(({ at, end }) => (end === undefined ? at : (end ?? now))));
  const latest = Math.max(...events.map(({ at, end }) => end ?? at));
  return { from, to, later: latest > to ? latest : null };
}

/** Returns the position of a time on the axis, from 0 to 1. Times after the run share the rest of the width. */
export function axisPlace({ from, to, later }: Axis, at: number): number {
  const share = later === null ? 1 : RUN_SHARE;
  if (at <= to) return (Math.max(0, at - from) / (to - from)) * share;
  return later === null ? 1 : share + Math.min(1, (at - to) / (later - to)) * (1 - share);
}

/** Returns the times of the axis' labels within the run, in milliseconds after its creation. */
export function axisTicks({ from, to }: Axis): number[] {
  const span = to - from;
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough)!;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => index * step);
}
