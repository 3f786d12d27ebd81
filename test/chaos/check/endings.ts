import { type Index, indexWorld, isZombie, mayBeDeleted, mayBeRolledBack } from "./index-world.ts";
import type { LedgerLine, RunRow, Verdict, Violation, World } from "./world.ts";

/** Error when mapping the database's clock to the monotonic clock. */
export const CLOCK_SLACK_MS = 25;

/**
 * Law 2: an accepted run ends exactly once, within a bounded time after the last fault. No completed step runs again,
 * and no effect of a task whose result was used. An outside service that recognizes keys has one effect for each.
 * No run begins before all older runs of its thread have ended.
 */
export function checkEndings(world: World): Verdict {
  const index = indexWorld(world);
  const violations: Violation[] = [];
  const checked = {
    accepted: index.accepted.size,
    executions: 0,
    effects: 0,
    keys: 0,
    repeated: 0,
    pairs: 0,
    zombies: 0,
  };
  const found = (text: string, run: string, thread?: string) => violations.push({ law: 2, text, run, thread });

  for (const row of world.runs) {
    if (row.status === "pending" || row.status === "running")
      found(`run ${row.run} is still ${row.status} (attempt ${row.attempt}) at the end`, row.run, row.thread);
    else if (row.ended === null) found(`run ${row.run} is ${row.status} and has no end`, row.run, row.thread);
    const graph = row.resumedBy === null ? index.accepted.get(row.run)?.graph : "waits";
    if (row.status === "error" && (graph === "steps" || graph === "waits"))
      found(`run ${row.run} ended as error, which its graph did not cause: ${row.error}`, row.run, row.thread);
  }
  for (const [run, op] of index.accepted) {
    if (index.runs.has(run)) continue;
    if (mayBeDeleted(index, op.thread) || mayBeRolledBack(world, index, run, op.thread!)) continue;
    found(`run ${run} was acknowledged and is gone`, run, op.thread);
  }
  checkEnds(world, found);
  for (const [run, lines] of index.ledgerByRun) {
    checked.executions += lines.filter(({ phase }) => phase === "start").length;
    checked.zombies += checkExecutions(world, run, lines, index.runs.get(run), found);
  }
  Object.assign(checked, checkEffects(world, violations, found));
  for (const runs of index.runsByThread.values()) checked.pairs += checkOverlaps(world, runs, index, found);
  return { violations, checked };
}

type Found = (text: string, run: string, thread?: string) => void;

/** Checks that webhooks never report two different final statuses for a run. */
function checkEnds(world: World, found: Found): void {
  const delivered = new Map<string, string>();
  for (const { run, status } of world.hooks) {
    const before = delivered.get(run) ?? status;
    if (before !== status) found(`run ${run} ended twice: its webhook said ${before} and ${status}`, run);
    delivered.set(run, before);
  }
}

/** Checks that no step starts after a later step of its run, or after the run's end. Returns the number excused. */
function checkExecutions(
  world: World,
  run: string,
  lines: LedgerLine[],
  row: RunRow | undefined,
  found: Found,
): number {
  let highest = 0;
  let zombies = 0;
  for (const line of lines) {
    if (line.phase !== "start") continue;
    const step = line.step!;
    const isLate = row?.ended != null && line.t > row.ended + CLOCK_SLACK_MS;
    if (step < highest || isLate) {
      if (isZombie(world.faults, line)) zombies++;
      else if (step < highest)
        found(
          `run ${run}: step ${step} started again (attempt ${line.attempt}) after step ${highest} had started`,
          run,
          line.thread,
        );
      else
        found(
          `run ${run}: step ${step} started ${(line.t - row!.ended!).toFixed(0)} ms after the run's end`,
          run,
          line.thread,
        );
    }
    highest = Math.max(highest, step);
  }
  return zombies;
}

/**
 * Checks that each journalled effect of a thread has its own key, is not repeated once its result was used, also
 * by a later run that resumes its node (docs/retries.md), and exists for each step in the state.
 */
function checkEffects(world: World, violations: Violation[], found: Found) {
  /** Effects by key, and keys by effect. */
  const places = new Map<string, string>();
  const keys = new Map<string, string>();
  const used = new Set<string>();
  let effects = 0;
  for (const line of world.ledger) {
    const { phase, token, step, key, attempt, thread, run } = line;
    if (key === undefined) continue;
    if (phase === "used") used.add(key);
    if (phase !== "effect") continue;
    effects++;
    const place = `${token}/${step}`;
    const known = keys.get(`${thread} ${place}`) ?? key;
    keys.set(`${thread} ${place}`, known);
    const other = places.get(key) ?? `${thread} ${place}`;
    places.set(key, other);
    if (other !== `${thread} ${place}`)
      found(`run ${run}: the effect of ${place} has the key of ${other}`, run, thread);
    else if (known !== key) found(`run ${run}: the effect of ${place} has the keys ${known} and ${key}`, run, thread);
    else if (used.has(key) && !isZombie(world.faults, line))
      found(
        `run ${run}: the effect of ${place} was repeated (attempt ${attempt}) after its result was used`,
        run,
        thread,
      );
  }
  for (const { thread, done = [] } of world.threads)
    for (const place of done)
      if (!keys.has(`${thread} ${place}`) && !place.startsWith("update-"))
        violations.push({ law: 2, text: `the state holds ${place}, which has no effect`, thread });
  return { effects, keys: places.size, repeated: effects - places.size };
}

function checkOverlaps(world: World, runs: RunRow[], index: Index, found: Found): number {
  let pairs = 0;
  for (const [at, later] of runs.entries()) {
    const older = runs[at - 1];
    const first = index.ledgerByRun.get(later.run)?.find((line) => !isZombie(world.faults, line));
    if (!older || !first) continue;
    pairs++;
    if (older.ended === null || first.t < older.ended - CLOCK_SLACK_MS)
      found(
        `run ${later.run} began before the older run ${older.run} had ended (${older.status})`,
        later.run,
        later.thread,
      );
  }
  return pairs;
}
