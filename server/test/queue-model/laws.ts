/** Invariants of the tables after every call, regardless of the model. */
import { isUnfinished } from "./model.ts";
import type { Rows } from "./rows.ts";

/**
 * @returns the laws that the step from `before` to `after` breaks. `several`: more than one call happened in between
 */
export function brokenLaws(before: Rows, after: Rows, several: boolean): string[] {
  return [...brokenState(after), ...brokenChange(before, after, several)];
}

function* brokenState({ threads, runs, steps, ends, torn }: Rows): Generator<string> {
  yield* torn;
  for (const t of threads) {
    const open = runs.filter((r) => r.thread === t.thread && isUnfinished(r));
    const running = open.filter((r) => r.status === "running");
    if (running.length > 1) yield `T${t.thread} has ${running.length} running runs`;
    if (t.running !== (running[0]?.run ?? null)) {
      yield `T${t.thread} names R${t.running} as running, its runs say R${running[0]?.run}`;
    }
    if (t.status !== (open.length > 0 ? "busy" : t.settled)) {
      yield `T${t.thread} is ${t.status} with ${open.length} unfinished runs after ${t.settled}`;
    }
  }
  for (const { thread, step, run } of steps) {
    if (!threads.some((t) => t.thread === thread)) yield `checkpoint ${step} of T${thread}, which is gone`;
    else if (!runs.some((r) => r.run === run)) yield `checkpoint ${step} of R${run}, which is gone`;
  }
  for (const { run, status } of ends) {
    const row = runs.find((r) => r.run === run);
    if (row && row.status !== status) yield `R${run} ended as ${status} and is ${row.status}`;
  }
}

function* brokenChange(before: Rows, after: Rows, several: boolean): Generator<string> {
  for (const { run, status } of before.ends) {
    const now = after.ends.find((e) => e.run === run)?.status;
    if (now !== status) yield `R${run} ended as ${status} and then as ${now}`;
  }
  for (const r of before.runs.filter((old) => old.temporary && isUnfinished(old) && !several)) {
    const open = after.runs.filter((o) => o.thread === r.thread && isUnfinished(o));
    if (open.length === 0 && after.threads.some((t) => t.thread === r.thread)) {
      yield `T${r.thread} outlived R${r.run}, a temporary run that ended last`;
    }
  }
  for (const [at, r] of after.runs.entries()) {
    const old = before.runs.find((o) => o.run === r.run);
    if (old && !isUnfinished(old) && (r.status !== old.status || r.attempt !== old.attempt)) {
      yield `R${r.run} had ended as ${old.status} and became ${r.status}, attempt ${r.attempt}`;
    }
    if (old && r.attempt < old.attempt) yield `R${r.run} went from attempt ${old.attempt} back to ${r.attempt}`;
    if (old?.cancel && !r.cancel) yield `R${r.run} forgot that it was asked to end (${old.cancel})`;
    if (r.attempt === (old?.attempt ?? 0)) continue;
    // it began
    for (const older of after.runs.slice(0, at).filter((o) => o.thread === r.thread && isUnfinished(o))) {
      // a delayed run that has not begun blocks from its due time on, which may lie within this step
      const wasDue = before.runs.some((o) => o.run === older.run && !o.delayed) && !older.delayed;
      if (older.attempt > 0 || (wasDue && !several)) {
        yield `R${r.run} began while R${older.run}, which is older, was ${older.status} in attempt ${older.attempt}`;
      }
    }
  }
}
