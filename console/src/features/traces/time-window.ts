import type { Interval } from "./run-times.ts";

/** Shortest part of a trace that is shown, in milliseconds. */
const SHORTEST = 0.01;

/** Scales the window about a time; null: the whole trace. */
export function zoomWindow(window: Interval, whole: Interval, factor: number, about: number): Interval | null {
  const length = Math.max(SHORTEST, (window[1] - window[0]) * factor);
  if (length >= whole[1] - whole[0]) return null;
  const share = (about - window[0]) / (window[1] - window[0] || 1);
  return keepWithin([about - share * length, about + (1 - share) * length], whole);
}

/** Moves the window by a share of its length. */
export function panWindow(window: Interval, whole: Interval, share: number): Interval {
  const by = (window[1] - window[0]) * share;
  return keepWithin([window[0] + by, window[1] + by], whole);
}

/** Returns the window that shows a run with some room around it; null: the whole trace. */
export function windowAround([from, to]: Interval, whole: Interval): Interval | null {
  const room = Math.max((to - from) * 0.1, SHORTEST / 2);
  const length = to - from + 2 * room;
  return length >= whole[1] - whole[0] ? null : keepWithin([from - room, to + room], whole);
}

function keepWithin([from, to]: Interval, whole: Interval): Interval {
  const length = Math.min(to - from, whole[1] - whole[0]);
  const start = Math.min(Math.max(from, whole[0]), whole[1] - length);
  return [start, start + length];
}

/** Returns about `count` round times within the window, after the start of the trace. */
export function roundTimes([from, to]: Interval, start: number, count: number): number[] {
  const rough = (to - from) / Math.max(1, count);
  if (!(rough > 0)) return [0];
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((candidate) => candidate >= rough)!;
  const first = Math.ceil((from - start) / step - 1e-9);
  const last = Math.floor((to - start) / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/** Returns the position of a time span in a window, as fractions of it; null outside. */
export function spanPosition([from, to]: Interval, [begin, end]: Interval): { left: number; width: number } | null {
  if (to < begin || from > end) return null;
  const total = Math.max(end - begin, 1e-3);
  const left = Math.max(0, (from - begin) / total);
  return { left: Math.min(left, 1), width: Math.max(0, Math.min(1, (to - begin) / total) - left) };
}
