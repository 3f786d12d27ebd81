/**
 * Where the time of a trace goes: what a run does itself while it waits for no other, and the critical path, the chain
 * of runs that together took as long as the trace. Times are milliseconds since 1970.
 */
import type { TraceNode, TraceTree } from "./trace-tree.ts";

export type Interval = [from: number, to: number];

const endTime = ({ start, end }: TraceNode, now: number): number => Math.max(start, end ?? now);

/** Returns when a run works itself: while none of its children runs; a leaf model call, from its first token. */
export function workIntervals(node: TraceNode, now: number): Interval[] {
  const end = endTime(node, now);
  const { start, children, firstToken } = node;
  if (children.length === 0) {
    const from = firstToken == null ? start : Math.min(Math.max(firstToken, start), end);
    return [[from, end]];
  }
  const found: Interval[] = [];
  let at = start;
  // children are in the order of their starts
  for (const child of children) {
    if (child.start > at) found.push([at, Math.min(child.start, end)]);
    at = Math.max(at, endTime(child, now));
    if (at >= end) break;
  }
  if (at < end) found.push([at, end]);
  return found;
}

export const sumIntervals = (intervals: readonly Interval[]): number =>
  intervals.reduce((sum, [from, to]) => sum + to - from, 0);

/** Joins intervals with gaps below `gap`, which a row could not show. */
export function joinClose(intervals: readonly Interval[], gap: number): Interval[] {
  const joined: Interval[] = [];
  for (const [from, to] of intervals) {
    const last = joined.at(-1);
    if (last && from - last[1] < gap) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/** Share of its duration by which a child may end after its successor began: clocks of processes differ. */
const OVERLAP = 0.05;

/**
 * Returns the runs on the critical path, each with the times in which the path is in the run itself. From the end of a
 * run backwards, the path goes through the child that ended last, and continues before that child's start.
 */
export function criticalPath({ roots }: TraceTree, now: number): Map<string, Interval[]> {
  const path = new Map<string, Interval[]>();
  const last = roots.toSorted((a, b) => endTime(b, now) - endTime(a, now))[0];
  // without recursion: a trace may be as deep as it is long
  const open: [node: TraceNode, until: number][] = last ? [[last, endTime(last, now)]] : [];
  for (let entry = open.pop(); entry; entry = open.pop()) {
    const [node, until] = entry;
    const own: Interval[] = [];
    let at = until;
    for (const child of node.children.toSorted((a, b) => endTime(b, now) - endTime(a, now))) {
      if (at <= node.start) break;
      const end = endTime(child, now);
      // a run that continues in the background ends for its parent when the parent does
      const isLast = at === until;
      if (child.start >= at || (!isLast && end > at + (end - child.start) * OVERLAP)) continue;
      const reached = Math.min(end, at);
      if (reached < at) own.push([reached, at]);
      open.push([child, reached]);
      at = Math.max(child.start, node.start);
    }
    if (at > node.start) own.push([node.start, at]);
    path.set(node.id, own.toReversed());
  }
  return path;
}

/** Returns the names that take most of the critical path, with their times. */
export function longestOnPath(
  { byId }: TraceTree,
  path: ReadonlyMap<string, Interval[]>,
  most = 3,
): [name: string, ms: number][] {
  const sums = new Map<string, number>();
  for (const [id, own] of path) {
    const name = byId.get(id)!.name || "Unnamed";
    sums.set(name, (sums.get(name) ?? 0) + sumIntervals(own));
  }
  return [...sums]
    .filter(([, ms]) => ms > 0)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, most);
}
