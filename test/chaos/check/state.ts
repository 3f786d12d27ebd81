import { groupBy, type Index, indexWorld, isZombie } from "./index-world.ts";
import type { CheckpointRow, RunRow, ThreadView, Verdict, Violation, World } from "./world.ts";

/**
 * Law 1: a thread's state is what its runs committed, in queue order; `/state`, `history`, the next run and the
 * official saver agree on the newest checkpoint.
 */
export function checkState(world: World): Verdict {
  const index = indexWorld(world);
  const violations: Violation[] = [];
  const checked = { threads: 0, runs: 0, checkpoints: world.checkpoints.length, updates: 0 };
  for (const view of world.threads) {
    if (view.answer !== 200) continue;
    const found = (text: string, run?: string) => violations.push({ law: 1, text, thread: view.thread, run });
    checked.threads++;
    checkReaders(view, found);
    checkChain(index.checkpointsByThread.get(view.thread) ?? [], found);
    if (view.done) {
      const runs = index.runsByThread.get(view.thread) ?? [];
      checked.runs += runs.length;
      checkDone(world, view.done, runs, index, found);
      checked.updates += checkUpdates(world, view.thread, view.done, runs, found);
    }
  }
  return { violations, checked };
}

type Found = (text: string, run?: string) => void;

/** Checks that every source reports the same newest checkpoint. */
function checkReaders(view: ThreadView, found: Found): void {
  const { head, history, saverHead } = view;
  if (head === undefined) return;
  if (history && (history[0] ?? null) !== head) found(`/history begins with ${history[0]}, /state is at ${head}`);
  if (saverHead !== undefined && saverHead !== head) found(`the official saver is at ${saverHead}, /state at ${head}`);
  const done = JSON.stringify(view.done);
  if (view.saverDone && JSON.stringify(view.saverDone) !== done)
    found(`the official saver reads ${JSON.stringify(view.saverDone)}, /state ${done}`);
  if (view.valuesDone && JSON.stringify(view.valuesDone) !== done)
    found(`the thread's values are ${JSON.stringify(view.valuesDone)}, /state ${done}`);
}

/** Checks that the checkpoints of a namespace form a chain: the order of ids is the order of parents. */
function checkChain(all: CheckpointRow[], found: Found): void {
  for (const [ns, rows] of groupBy(all, (row) => row.ns)) {
    const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    for (const [at, row] of sorted.entries()) {
      const before = sorted[at - 1]?.id ?? null;
      if (row.parent === before) continue;
      const namespace = ns === "" ? "" : ` of "${ns}"`;
      found(
        `checkpoint ${row.id}${namespace} has the parent ${row.parent}; the one before it is ${before}`,
        row.run ?? undefined,
      );
    }
  }
}

/** Checks that each run's entries appear once, in step order, contiguous, with runs in queue order. */
function checkDone(world: World, done: string[], runs: RunRow[], index: Index, found: Found): void {
  const byToken = groupBy(done, (entry) => entry.split("/")[0]);
  const known = new Map(runs.filter(({ token }) => token !== null).map((run) => [run.token!, run]));
  let last = -1;
  let lastRun: RunRow | undefined;
  for (const [token, entries] of byToken) {
    const run = known.get(token);
    const first = done.indexOf(entries[0]!);
    if (!run) {
      if (!token.startsWith("update-")) found(`the state holds ${entries[0]} of a run that there is not`);
      continue;
    }
    const expected = entries.map((_, at) => `${token}/${at + 1}`);
    const actual = done.slice(first, first + entries.length);
    if (JSON.stringify(expected) !== JSON.stringify(actual))
      found(
        `the state holds ${JSON.stringify(actual)} where ${JSON.stringify(expected)} was to be; all: ${entries}`,
        run.run,
      );
    if (run.seq < last)
      found(`run ${run.run} (seq ${run.seq}) comes after ${lastRun!.run} (seq ${last}) in the state`, run.run);
    last = run.seq;
    lastRun = run;
  }
  for (const run of runs) checkRun(world, done, run, index, found);
}

/** Checks that all steps of a successful run are present and that it began from the state before it. */
function checkRun(world: World, done: string[], run: RunRow, index: Index, found: Found): void {
  if (run.token === null) return;
  const mine = done.filter((entry) => entry.startsWith(`${run.token}/`));
  const steps = index.accepted.get(run.run)?.steps;
  if (run.status === "success" && steps !== undefined && mine.length !== steps)
    found(`run ${run.run} is a success of ${steps} steps, the state holds ${mine.length} of them`, run.run);
  const start = (index.ledgerByRun.get(run.run) ?? []).find(({ phase, step }) => phase === "start" && step === 1);
  if (!start || mine.length === 0 || isZombie(world.faults, start)) return;
  const at = done.indexOf(mine[0]!);
  if (start.seen !== at || (start.last ?? null) !== (done[at - 1] ?? null))
    found(
      `run ${run.run} began from ${start.seen} entries up to ${start.last}; the state has ${at} before it, up to ${done[at - 1]}`,
      run.run,
    );
}

/** Checks that an acknowledged state update appears once, and a rejected one not at all. */
function checkUpdates(world: World, thread: string, done: string[], runs: RunRow[], found: Found): number {
  const updates = world.operations.filter((op) => op.name === "state.update" && op.thread === thread);
  for (const { token, outcome, invoked } of updates) {
    const indexes = done.flatMap((entry, at) => (entry === `${token}/1` ? [at] : []));
    if (indexes.length > 1 || (outcome === "ok" && indexes.length === 0) || (outcome === "fail" && indexes.length > 0))
      found(`the state update ${token} (${outcome}) is there ${indexes.length} times`);
    for (const run of runs) {
      const at = done.indexOf(`${run.token}/1`);
      if (indexes.length === 1 && run.ended !== null && run.ended < invoked && at > indexes[0]!)
        found(
          `the state update ${token} stands before run ${run.run}, which had ended before it was asked for`,
          run.run,
        );
    }
  }
  return updates.length;
}
