import { indexWorld, isZombie } from "./index-world.ts";
import type { Operation, Verdict, Violation, World } from "./world.ts";

/** Limit of law 4, and the tolerance for the machine's delays between two processes. */
export const EFFECT_MS = 2000;
const TOLERANCE_MS = 1000;
/** Scheduling hops of a cancel: the API, the executing server, its host and the database. */
const TURNS = 4;

/**
 * Law 4: an acknowledged cancel (or a run with the strategy interrupt or rollback, which cancels) takes effect within
 * 2 s of the first calm moment after its acknowledgement.
 */
export function checkCancels(world: World): Verdict {
  const index = indexWorld(world);
  const violations: Violation[] = [];
  const checked = { cancels: 0, takeovers: 0, timed: 0, longestMs: 0 };

  const judge = (run: string, thread: string | undefined, acknowledged: number, what: string) => {
    const row = index.runs.get(run);
    const ended = row ? (row.ended ?? Number.POSITIVE_INFINITY) : undefined;
    // rolled back or deleted: the row is gone, and its end time is unknown
    if (ended === undefined) return;
    const calm = world.calms.find(({ to }) => to > acknowledged);
    if (!calm) return;
    const from = Math.max(calm.from, acknowledged);
    if (ended <= from) return;
    const limit = EFFECT_MS + TOLERANCE_MS + TURNS * slownessBetween(world, from, Math.min(ended, calm.to));
    if (calm.to - from < limit) return;
    checked.timed++;
    const ms = ended - from;
    checked.longestMs = Math.max(checked.longestMs, Number.isFinite(ms) ? Math.round(ms) : calm.to - from);
    if (ms > limit)
      violations.push({
        law: 4,
        run,
        thread,
        t: from,
        text: `${what} of run ${run} had no effect ${Number.isFinite(ms) ? `for ${ms.toFixed(0)} ms` : "at all"} without a fault`,
      });
  };

  for (const op of world.operations) {
    if (op.outcome !== "ok" || op.ended === undefined) continue;
    if (op.name === "run.cancel") {
      checked.cancels++;
      judge(op.run!, op.thread, op.ended, `the acknowledged ${op.action}`);
      if (op.action === "rollback") checkRolledBack(world, op, violations);
    }
    if (op.name === "run.create" && (op.strategy === "interrupt" || op.strategy === "rollback")) {
      const row = index.runs.get(op.run ?? "");
      if (!row) continue;
      checked.takeovers++;
      for (const older of index.runsByThread.get(row.thread) ?? [])
        if (older.seq < row.seq)
          judge(older.run, older.thread, op.accepted ?? op.ended, `the ${op.strategy} by ${row.run}`);
    }
  }
  for (const [run, cancels] of index.cancelsByRun) {
    const acknowledged = cancels.find(({ outcome }) => outcome === "ok");
    if (!acknowledged) continue;
    // includes rolled-back runs, whose rows are gone
    const late = index.ledgerByRun
      .get(run)
      ?.find((line) => line.phase === "end" && isCalmBetween(world, acknowledged.ended!, line.t));
    if (late && !isZombie(world.faults, late))
      violations.push({
        law: 4,
        run,
        thread: late.thread,
        text: `run ${run} was cancelled (${acknowledged.action}) and went on to the end of step ${late.step}`,
      });
  }
  return { violations, checked };
}

/** Longest response time of `/ok`, which reads only memory: a measure of the machine's other load. */
function slownessBetween({ health }: World, from: number, to: number): number {
  const answers = health.filter(
    ({ endpoint, status, sent, t }) => endpoint === "/ok" && status && t > from && sent < to,
  );
  return Math.max(0, ...answers.map(({ sent, t }) => t - sent));
}

function isCalmBetween(world: World, from: number, to: number): boolean {
  return world.calms.some((calm) => Math.min(calm.to, to) - Math.max(calm.from, from) > EFFECT_MS + TOLERANCE_MS);
}

/** Checks that a run rolled back before its end leaves no row. A run that had already ended keeps its row. */
function checkRolledBack(world: World, cancel: Operation, violations: Violation[]): void {
  const row = world.runs.find(({ run }) => run === cancel.run);
  if (!row || row.ended === null) return;
  if (row.ended > cancel.ended! && row.status !== "success")
    violations.push({
      law: 4,
      run: row.run,
      thread: row.thread,
      text: `run ${row.run} was rolled back while it ran, and is still there as ${row.status}`,
    });
}
