/**
 * Life of a group of runs under a rule: ok → pending → firing → ok. A pure function of the stored state and of what a
 * tick observed, called by the evaluation and by the preview.
 */
import { type AlertDefinition, isTotal } from "./definition.ts";

export type GroupStatus = "ok" | "pending" | "firing";

/** `hold`: the value is between the threshold and the threshold of the resolution. */
type Event = "breach" | "hold" | "clear";

const NEXT: Record<GroupStatus, Record<Event, GroupStatus>> = {
  ok: { breach: "pending", hold: "ok", clear: "ok" },
  pending: { breach: "pending", hold: "ok", clear: "ok" },
  firing: { breach: "firing", hold: "firing", clear: "ok" },
};

export interface GroupState {
  status: GroupStatus;
  /** Consecutive ticks with a breach. */
  breaches: number;
}

export const OK: GroupState = { status: "ok", breaches: 0 };

/** What a tick observed of a group. Null: nothing to measure. */
export interface Observation {
  runs: number;
  value: number | null;
  baseline: number | null;
}

export const UNSEEN: Observation = { runs: 0, value: null, baseline: null };

export interface Verdict extends GroupState {
  value: number | null;
  /** What the value was compared with. */
  threshold: number | null;
  isUnknown: boolean;
}

/** Decides a group's next state. */
export function decide(definition: AlertDefinition, state: GroupState, seen: Observation): Verdict {
  const { value, threshold, event } = judge(definition, seen);
  const isUnknown = event === undefined;
  const known = event ?? (definition.no_data === "keep" ? "hold" : "clear");
  const breaches = known === "breach" ? state.breaches + 1 : 0;
  const next = NEXT[state.status][known];
  const status = next === "pending" && breaches >= definition.for_evaluations ? "firing" : next;
  return { status, breaches: status === "ok" ? 0 : breaches, value, threshold, isUnknown };
}

/** @returns no event when there is nothing to decide by */
function judge(
  definition: AlertDefinition,
  { runs, value: measured, baseline }: Observation,
): { value: number | null; threshold: number | null; event?: Event } {
  const { type, operator } = definition;
  if (type === "absence") return { value: runs, threshold: 0, event: runs === 0 ? "breach" : "clear" };
  const value = runs < definition.min_runs ? null : (measured ?? (isTotal(definition) ? 0 : null));
  const threshold = findThreshold(definition, baseline);
  if (value === null || threshold === null) return { value, threshold };
  if (COMPARE[operator](value, threshold)) return { value, threshold, event: "breach" };
  const { resolve_threshold: end } = definition;
  const event = end !== null && COMPARE[operator](value, end) ? "hold" : "clear";
  return { value, threshold, event };
}

function findThreshold(definition: AlertDefinition, baseline: number | null): number | null {
  if (definition.type === "threshold") return definition.threshold;
  const { window_minutes: window, threshold_window_minutes: length } = definition;
  const total = isTotal(definition);
  const known = baseline ?? (total ? 0 : null);
  if (known === null) return null;
  const scaled = total && length !== null ? (known * window) / length : known;
  return scaled * (definition.threshold_multiplier ?? 1);
}

const COMPARE: Record<AlertDefinition["operator"], (value: number, threshold: number) => boolean> = {
  gt: (value, threshold) => value > threshold,
  gte: (value, threshold) => value >= threshold,
  lt: (value, threshold) => value < threshold,
  lte: (value, threshold) => value <= threshold,
};
