import type { CheckpointRow, FaultEvent, LedgerLine, Operation, RunRow, World } from "./world.ts";

/** Groups items by key; skips items without a key. */
export function groupBy<T>(items: T[], key: (item: T) => string | null | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = key(item);
    if (name === null || name === undefined) continue;
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}

export interface Index {
  runs: Map<string, RunRow>;
  runsByThread: Map<string, RunRow[]>;
  ledgerByRun: Map<string, LedgerLine[]>;
  checkpointsByThread: Map<string, CheckpointRow[]>;
  /** Creations of acknowledged runs, by run id. */
  accepted: Map<string, Operation>;
  cancelsByRun: Map<string, Operation[]>;
  deletes: Map<string, Operation[]>;
}

export function indexWorld(world: World): Index {
  const isCreate = ({ name }: Operation) => name === "run.create";
  return {
    runs: new Map(world.runs.map((row) => [row.run, row])),
    runsByThread: groupBy(
      world.runs.toSorted((a, b) => a.seq - b.seq),
      ({ thread }) => thread,
    ),
    ledgerByRun: groupBy(world.ledger, ({ run }) => run),
    checkpointsByThread: groupBy(world.checkpoints, ({ thread }) => thread),
    accepted: new Map(world.operations.filter((op) => isCreate(op) && op.run).map((op) => [op.run!, op])),
    cancelsByRun: groupBy(
      world.operations.filter(({ name }) => name === "run.cancel"),
      ({ run }) => run,
    ),
    deletes: groupBy(
      world.operations.filter(({ name }) => name === "thread.delete"),
      ({ thread }) => thread,
    ),
  };
}

/** Whether the thread was deleted, or may have been. */
export const mayBeDeleted = (index: Index, thread: string | undefined): boolean =>
  (index.deletes.get(thread ?? "") ?? []).some(({ outcome }) => outcome !== "fail");

/**
 * Whether a client requested a rollback of the run, or may have: by cancelling this run, or by a later run of its
 * thread with the strategy `rollback`.
 */
export function mayBeRolledBack(world: World, index: Index, run: string, thread: string): boolean {
  const cancels = index.cancelsByRun.get(run) ?? [];
  if (cancels.some(({ action, outcome }) => action === "rollback" && outcome !== "fail")) return true;
  return world.operations.some(
    (op) => op.thread === thread && op.name === "run.create" && op.strategy === "rollback" && op.outcome !== "fail",
  );
}

/**
 * Whether a process wrote the line at the moment it thawed. No fence can hold back a side effect that began before the
 * freeze. Applies only to side effects of graphs, never to rows.
 */
export function isZombie(faults: FaultEvent[], line: LedgerLine): boolean {
  const GRACE_MS = 3000;
  return faults.some(
    ({ pids, begin, end }) =>
      pids?.includes(line.pid) && line.t >= begin && line.t <= (end ?? Number.POSITIVE_INFINITY) + GRACE_MS,
  );
}
