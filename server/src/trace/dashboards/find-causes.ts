/**
 * Finds where a measure got worse. A segment's contribution is what its traces add to the change of the mean over all
 * traces: by its own change, and by its share of the traces. Segments rank by what they contribute beyond the part that
 * falls on them by size alone, so that a property of all traces explains nothing.
 */
import type { Moments, Segment } from "./segment-sql.ts";

export interface Found {
  segment: Segment;
  /** Segments with exactly the same traces. */
  same: Segment[];
  before: Moments;
  now: Moments;
  contribution: number;
  share: number | null;
}

export interface Comparison {
  before: Moments;
  now: Moments;
  verdict: "worse" | "better" | "same";
  found: Found[];
}

/** Standard errors beyond which a change is not chance: once in 700 comparisons of equals for all traces. */
const CERTAIN = 3.2;
/** For segments, of which there are many. */
const CERTAIN_OF_MANY = 4;
/** Smaller changes are no matter, relative to the value before. */
const LEAST = 0.03;
/** Traces of a segment now, at least. */
const MIN_TRACES = 5;
/** Part of the change that a cause explains beyond its size, at least. */
const MIN_EXCESS = 0.05;
const NONE: Moments = { n: 0, sum: 0, squares: 0 };

export const mean = ({ n, sum }: Moments): number | null => (n > 0 ? sum / n : null);

/** @param sign 1 when a higher value is worse, -1 when a lower one is */
export function compare(segments: readonly Segment[], measure: string, sign: 1 | -1, most: number): Comparison {
  const all = segments.find(({ kind }) => kind === "");
  const before = all?.before[measure] ?? NONE;
  const now = all?.now[measure] ?? NONE;
  const [was, is] = [mean(before), mean(now)];
  if (was === null || is === null) return { before, now, verdict: "same", found: [] };
  const difference = is - was;
  const isChance = Math.abs(deviation(before, now)) < CERTAIN || Math.abs(difference) < LEAST * Math.abs(was);
  const verdict = isChance ? "same" : difference * sign > 0 ? "worse" : "better";
  // a segment may be worse while the whole is not
  if (verdict === "better") return { before, now, verdict, found: [] };
  const found = segments
    .filter(({ kind }) => kind !== "")
    .flatMap((segment) => judge(segment, measure, sign, { before, now, was, difference, isWorse: verdict === "worse" }))
    .toSorted((a, b) => b.excess - a.excess);
  return { before, now, verdict, found: merge(found).slice(0, most) };
}

interface Whole {
  before: Moments;
  now: Moments;
  was: number;
  difference: number;
  isWorse: boolean;
}

function judge(segment: Segment, measure: string, sign: 1 | -1, whole: Whole): (Found & { excess: number })[] {
  const before = segment.before[measure] ?? NONE;
  const now = segment.now[measure] ?? NONE;
  const is = mean(now);
  if (is === null || now.n < MIN_TRACES) return [];
  const was = mean(before) ?? whole.was;
  // what is new is compared with all traces before
  const against = before.n > 0 ? before : whole.before;
  if (deviation(against, now) * sign < CERTAIN_OF_MANY) return [];
  const [sizeNow, sizeBefore] = [now.n / whole.now.n, before.n / whole.before.n];
  const contribution = sizeNow * (is - was) + (sizeNow - sizeBefore) * (was - whole.was);
  const expected = before.n > 0 ? sizeNow * whole.difference : 0;
  const excess = (contribution - expected) * sign;
  const least = whole.isWorse ? MIN_EXCESS * Math.abs(whole.difference) : LEAST * Math.abs(whole.was);
  if (!(excess > 0) || excess < least) return [];
  const share = whole.isWorse && whole.difference !== 0 ? contribution / whole.difference : null;
  return [{ segment, same: [], before, now, contribution, share, excess }];
}

/** Returns the change in standard errors of the difference of the means (Welch). */
function deviation(before: Moments, now: Moments): number {
  const [was, is] = [mean(before), mean(now)];
  if (was === null || is === null) return 0;
  const error = Math.sqrt(variance(before) / before.n + variance(now) / now.n);
  return error > 0 ? (is - was) / error : is === was ? 0 : Math.sign(is - was) * Infinity;
}

/** With half a trace of either kind added for rates, so that none is certain. */
function variance({ n, sum, squares }: Moments): number {
  const center = sum / n;
  const own = Math.max(0, squares / n - center * center);
  const isRate = squares === sum && sum >= 0;
  if (!isRate) return own;
  const rate = (sum + 0.5) / (n + 1);
  return rate * (1 - rate);
}

/** Joins segments of the same traces, whose moments are equal, and leaves out parts of what is already named. */
function merge(found: (Found & { excess: number })[]): Found[] {
  const groups = new Map<string, Found & { excess: number }>();
  for (const one of found) {
    const key = JSON.stringify([one.before, one.now]);
    const first = groups.get(key);
    if (first) first.same.push(one.segment);
    else groups.set(key, one);
  }
  return [...groups.values()].map(({ excess: _excess, ...one }) => one);
}
