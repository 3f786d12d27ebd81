/**
 * Invariants of the tables after every call, regardless of the model; and the laws of a claim's choice, of which the
 * tables do not show the alternatives. Those of flow control begin with their names.
 */
import type { QueueRules } from "../../src/agent/project/queue-config.ts";
import { agedRank, flowOf, limitsOf, startsBefore } from "./flow.ts";
import { deadline, isDebounced, isEarlier, isUnfinished, type Model, type ModelRun, type Reason } from "./model.ts";
import type { Rows } from "./rows.ts";

type RunRow = Rows["runs"][number];

/** What laws of flow control remember of a sequence. */
export interface History {
  rules: QueueRules | null;
  now: number;
  /** Times of starts by rate. */
  starts: Map<string, number[]>;
}

/**
 * @returns the laws that the step from `before` to `after` breaks. `several`: more than one call happened in between
 */
export function brokenLaws(before: Rows, after: Rows, several: boolean, history: History): string[] {
  return [
    ...brokenState(after),
    ...brokenChange(before, after, several, history.now),
    ...(history.rules ? brokenFlow(history, history.rules, before, after) : []),
  ];
}

function* brokenFlow({ now, starts }: History, rules: QueueRules, before: Rows, after: Rows): Generator<string> {
  const flowBy = new Map(after.runs.map((r) => [r.run, flowOf(rules, r)!]));
  const count = (key: string, kind: "slots" | "waiting", among: RunRow[]) =>
    among.filter((r) => flowBy.get(r.run)![kind].some((k) => k.key === key)).length;
  const running = after.runs.filter((r) => r.status === "running");
  const unbegun = after.runs.filter((r) => r.status === "pending" && r.attempt === 0);
  for (const { key, limit } of running.flatMap((r) => flowBy.get(r.run)!.slots)) {
    const n = count(key, "slots", running);
    if (n > limit) yield `concurrency: ${n} runs of ${key} are running, ${limit} may`;
  }
  for (const r of after.runs) {
    const old = before.runs.find((o) => o.run === r.run);
    const isNew = !old && r.status === "pending";
    const flow = flowBy.get(r.run)!;
    if (r.attempt > (old?.attempt ?? 0)) {
      for (const { rate, interval, burst } of flow.rates) {
        const times = starts.get(rate) ?? [];
        starts.set(rate, [...times, now]);
        for (const [at, from] of [...times, now].entries()) {
          const [n, most] = [times.length + 1 - at, burst + Math.floor((now - from) / interval)];
          if (n > most) yield `throttle: ${n} starts of ${rate} in ${now - from} s, ${most} are permitted`;
        }
      }
      const due = old?.available ?? r.available;
      if (due > now) yield `delay: R${r.run} began at ${now}, before ${due}`;
    }
    if (isNew && r.refusable) {
      for (const { key, limit } of flow.waiting) {
        const n = count(key, "waiting", unbegun);
        const refused = count(
          key,
          "waiting",
          unbegun.filter((o) => o.refusable || before.runs.some((b) => b.run === o.run)),
        );
        if (Math.min(n, refused) > limit) yield `waiting: ${n} runs of ${key} wait, ${limit} may`;
      }
    }
    if (isDebounced(r)) {
      const { seconds, longest } = rules.debounce!;
      const latest = r.debouncedSince! + longest;
      const due = Math.max(r.created, Math.min(r.created + seconds, latest));
      if (r.available !== due) yield `debounce: R${r.run} may begin at ${r.available} instead of ${due}`;
      const newer = after.runs.find(
        (o) =>
          o.thread === r.thread &&
          o.debouncedSince !== null &&
          o.created >= r.created &&
          o !== r &&
          after.runs.indexOf(o) > after.runs.indexOf(r),
      );
      if (newer) yield `debounce: R${r.run} waits beside R${newer.run}, which is newer`;
    }
  }
  for (const r of unbegun) {
    const ends = deadline({ available: r.available, flow: flowBy.get(r.run)! });
    if (ends <= now) yield `expiry: R${r.run} waits at ${now}, beyond ${ends}`;
  }
}

/**
 * The laws that a choice breaks: `run` begins, while the others of `waiting` could have begun instead. The counts of
 * starts are those after it (`start`).
 */
export function brokenChoice(m: Model, run: ModelRun, rank: number, waiting: ModelRun[]): string[] {
  const others = waiting.filter((other) => other !== run);
  return others.flatMap((other) => {
    const own = agedRank(m, other);
    const broken: string[] = [];
    if (own < rank) broken.push(`priority: R${run.run} of class ${rank} began before R${other.run} of class ${own}`);
    if (own !== rank || other.wait === null) return broken;
    const { turn } = other.flow!;
    if (turn === null) {
      if (isEarlier(m, other, run)) broken.push(`order: R${run.run} began before R${other.run}, which is older`);
      return broken;
    }
    const { passed, total, place, younger } = other.wait;
    const ahead = Object.entries(passed).filter(([value, n]) => value !== turn && n > (passed[turn] ?? 0) + 2);
    for (const [value, n] of ahead) {
      broken.push(
        `turns: ${n} runs of ${value} began while R${other.run} of ${turn} waited, and ${passed[turn] ?? 0} of its own`,
      );
    }
    if (younger > 1) broken.push(`turns: ${younger} younger runs of ${turn} began before R${other.run}`);
    const most = startsBefore(place + younger, new Set([...Object.keys(passed), turn]).size);
    if (total > most) broken.push(`starvation: ${total} runs began before R${other.run}, at most ${most} may`);
    return broken;
  });
}

/** @returns why a claim was wrong to end with room for more */
export function brokenEnd(waiting: ModelRun[]): string[] {
  return waiting.map(({ run }) => `progress: R${run} could have begun`);
}

/** Reasons shown on the queue's page once a claim has nothing more to start. */
export function brokenReasons(expected: Map<number, Reason[]>, shown: (Reason & { run: number })[]): string[] {
  return shown.flatMap(({ run, reason, key }) => {
    const may = expected.get(run);
    if (!may || may.some((one) => one.reason === reason && one.key === key)) return [];
    return [
      `reason: R${run} is shown as ${reason} (${key}), not as ${may.map((one) => `${one.reason} (${one.key})`).join(" or ") || "one that starts"}`,
    ];
  });
}

/** The runs of `candidates` that no limit keeps from starting. */
export const withRoom = (m: Model, candidates: ModelRun[]): ModelRun[] =>
  candidates.filter((r) => limitsOf(m, r).length === 0);

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

function* brokenChange(before: Rows, after: Rows, several: boolean, now: number): Generator<string> {
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
      const wasDue = before.runs.some((o) => o.run === older.run && o.available <= now) && older.available <= now;
      if (older.attempt > 0 || (wasDue && !several)) {
        yield `R${r.run} began while R${older.run}, which is older, was ${older.status} in attempt ${older.attempt}`;
      }
    }
  }
}
