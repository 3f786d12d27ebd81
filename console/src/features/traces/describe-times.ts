import { counted, duration } from "../../ui/format.ts";
import { sumIntervals, workIntervals } from "./run-times.ts";
import type { TraceNode } from "./trace-tree.ts";

/** Says how much of its time a run works and waits: for other runs, or for the first token of a model. */
export function describeTimes(node: TraceNode, now: number): string {
  const { start, end, children, firstToken } = node;
  const whole = Math.max(0, (end ?? Math.max(now, start)) - start);
  if (children.length > 0) {
    const own = sumIntervals(workIntervals(node, now));
    return `${duration(own)} own work, ${duration(whole - own)} waiting for ${counted(children.length, "run")}`;
  }
  if (firstToken === null) return `${duration(whole)} own work`;
  const waited = Math.min(whole, Math.max(0, firstToken - start));
  return `${duration(waited)} waiting for the first token, ${duration(whole - waited)} output`;
}
