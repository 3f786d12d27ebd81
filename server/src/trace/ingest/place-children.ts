import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";
import { dottedSegment } from "./dotted-order.ts";
import type { Resolved } from "./resolve-runs.ts";

/** Longest dotted order that may have children: a thousand levels. */
const MAX_LENGTH = 60_000;

export interface ParentPosition {
  trace_id: string;
  dotted_order: string;
}

/**
 * Reads the places of runs by id from their rows.
 * @returns only those that are known and have a place
 */
export async function findPositions(
  clickhouse: ClickHouse,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, ParentPosition>> {
  const keys = (await findRunKeys(clickhouse, tenantId, ids)).filter((key) => !key.deleted);
  if (keys.length === 0) return new Map();
  const rows = await clickhouse.rows<{ id: string; trace_id: string; dotted_order: string | null }>({
    name: "runs.places",
    query: `select id, trace_id, dotted_order from runs final
      where tenant_id = {tenant:UUID} and project_id in {projects:Array(UUID)}
        and start_time in {starts:Array(DateTime64(6, 'UTC'))} and id in {ids:Array(UUID)}`,
    params: {
      tenant: tenantId,
      projects: keys.map((key) => key.project_id),
      starts: keys.map((key) => key.start_time),
      ids: keys.map((key) => key.id),
    },
  });
  const known = rows.flatMap(({ id, trace_id, dotted_order }) =>
    dotted_order === null ? [] : ([[id, { trace_id, dotted_order }]] as const),
  );
  return new Map(known);
}

/**
 * Computes the place of each new run in its trace: a root's is its own segment, a child's follows its
 * parent's. A child whose parent has not arrived is placed below an assumed parent with the child's start time, so that
 * it can be read at once.
 * @returns those children; their place is corrected when the parent arrives
 */
export async function placeRuns(
  clickhouse: ClickHouse,
  tenantId: string,
  resolved: readonly Resolved[],
): Promise<Resolved[]> {
  const inGroup = new Map<string, ParentPosition>();
  for (const { piece, run } of resolved) {
    const { fields, kind, id, parent_run_id } = piece;
    if (kind === "post" && parent_run_id === undefined) fields.dotted_order ??= dottedSegment(run.start_time, id);
    if (fields.dotted_order) inGroup.set(id, { trace_id: run.trace_id, dotted_order: fields.dotted_order });
  }
  const children = resolved.filter((piece) => piece.placeless);
  const unknown = children.map(({ piece }) => piece.parent_run_id!).filter((id) => !inGroup.has(id));
  const stored =
    unknown.length > 0 ? await findPositions(clickhouse, tenantId, unknown) : new Map<string, ParentPosition>();
  const byParent = new Map<string, Resolved[]>();
  for (const child of children) {
    const parentId = child.piece.parent_run_id!;
    const siblings = byParent.get(parentId);
    if (siblings) siblings.push(child);
    else byParent.set(parentId, [child]);
  }
  const misplaced: Resolved[] = [];
  const descend = (parentId: string, parent: ParentPosition, isGuess: boolean) => {
    const queue = [{ parentId, parent, isGuess }];
    for (const next of queue) {
      const below = byParent.get(next.parentId) ?? [];
      byParent.delete(next.parentId);
      for (const child of below) {
        place(child, next.parent);
        if (next.isGuess) misplaced.push(child);
        const own = { trace_id: child.run.trace_id, dotted_order: child.piece.fields.dotted_order! };
        if (own.dotted_order.length < MAX_LENGTH)
          queue.push({ parentId: child.piece.id, parent: own, isGuess: next.isGuess });
      }
    }
  };
  // first below known places, then below unknown parents, and cycles, which are invalid, last
  for (const parentId of [...byParent.keys()]) {
    const parent = inGroup.get(parentId) ?? stored.get(parentId);
    if (parent) descend(parentId, parent, false);
  }
  const ids = new Set(children.map(({ piece }) => piece.id));
  for (const inCycles of [false, true]) {
    for (const [parentId, below] of [...byParent]) {
      if (!byParent.has(parentId) || ids.has(parentId) !== inCycles) continue;
      const { piece, run } = below[0]!;
      const guess = { trace_id: piece.trace_id ?? parentId, dotted_order: dottedSegment(run.start_time, parentId) };
      descend(parentId, guess, true);
    }
  }
  return misplaced;
}

function place(child: Resolved, parent: ParentPosition): void {
  const { piece, run, isNew } = child;
  if (!isNew && run.trace_id !== parent.trace_id) {
    child.movedFrom ??= run.trace_id;
    child.writesKey = true;
  }
  piece.fields.dotted_order = `${parent.dotted_order}.${dottedSegment(run.start_time, piece.id)}`;
  run.trace_id = parent.trace_id;
}
