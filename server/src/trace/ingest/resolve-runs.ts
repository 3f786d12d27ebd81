import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { ProjectDirectory } from "../projects/project-directory.ts";
import { findRunKeys } from "../runs/clickhouse.ts";
import { type KnownRun, NO_SHAPE, type RunMemory } from "./run-memory.ts";
import type { RunPiece } from "./run-piece.ts";

export interface Resolved {
  piece: RunPiece;
  run: KnownRun;
  /** Whether the run begins with this piece. */
  isNew: boolean;
  /** Whether its key is to be written: it is new, or its trace turned out to be another than was thought. */
  writesKey: boolean;
  /** It tells its parent and not its place in the trace, which therefore follows from the parent's. */
  placeless: boolean;
}

export interface Resolution {
  resolved: Resolved[];
  /** Updates of runs that nobody knows yet. */
  waiting: RunPiece[];
}

/**
 * Says for each piece which run it belongs to, that is: under which key its row goes. The first piece decides it.
 *
 * A create that tells its start needs no query: sent twice it has the same key twice. All others are looked up
 * when this process doesn't remember their run. An update whose run isn't found begins it when it tells project
 * and start itself, and waits otherwise. Pieces of deleted runs are dropped.
 */
export async function resolveRuns(
  { clickhouse, projects, memory }: { clickhouse: ClickHouse; projects: ProjectDirectory; memory: RunMemory },
  tenantId: string,
  pieces: readonly RunPiece[],
): Promise<Resolution> {
  const deleted = await recall({ clickhouse, memory }, tenantId, pieces);
  const result: Resolution = { resolved: [], waiting: [] };
  for (const piece of pieces) {
    if (deleted.has(piece.id)) continue;
    const known = memory.get(tenantId, piece.id);
    const placeless =
      piece.kind === "post" && piece.fields.dotted_order === undefined && piece.parent_run_id !== undefined;
    if (known) {
      const moves = piece.trace_id !== undefined && piece.trace_id !== known.trace_id;
      if (moves) known.trace_id = piece.trace_id!;
      result.resolved.push({ piece, run: known, isNew: false, writesKey: moves, placeless });
      continue;
    }
    const run = await begin({ projects, memory }, tenantId, piece);
    if (!run) {
      result.waiting.push(piece);
      continue;
    }
    memory.set(tenantId, piece.id, run);
    result.resolved.push({ piece, run, isNew: true, writesKey: true, placeless });
  }
  return result;
}

/** Looks up what can't be told otherwise. @returns ids of deleted runs */
async function recall(
  { clickhouse, memory }: { clickhouse: ClickHouse; memory: RunMemory },
  tenantId: string,
  pieces: readonly RunPiece[],
): Promise<Set<string>> {
  const missing = new Set<string>();
  for (const piece of pieces) {
    const needless = piece.kind === "post" && piece.start_time !== undefined;
    if (!needless && !memory.get(tenantId, piece.id)) missing.add(piece.id);
  }
  const deleted = new Set<string>();
  for (const key of await findRunKeys(clickhouse, tenantId, [...missing])) {
    if (key.deleted) deleted.add(key.id);
    else {
      const { project_id, start_time, trace_id } = key;
      memory.set(tenantId, key.id, {
        project_id,
        start_time,
        trace_id,
        shape: undefined,
        model: undefined,
        patched: 0,
      });
    }
  }
  return deleted;
}

async function begin(
  { projects, memory }: { projects: ProjectDirectory; memory: RunMemory },
  tenantId: string,
  piece: RunPiece,
): Promise<KnownRun | undefined> {
  const saysWhere = piece.project_id !== undefined || piece.project_name !== undefined;
  if (piece.kind === "patch" && !(saysWhere && piece.start_time)) return undefined;
  const project_id = piece.project_id ?? (await projects.ensureProject(tenantId, piece.project_name));
  return {
    project_id,
    start_time: piece.start_time ?? piece.received_at,
    trace_id: piece.trace_id ?? parentTrace(memory, tenantId, piece) ?? piece.parent_run_id ?? piece.id,
    shape: NO_SHAPE,
    model: undefined,
    patched: 0,
  };
}

const parentTrace = (memory: RunMemory, tenantId: string, piece: RunPiece): string | undefined =>
  piece.parent_run_id && memory.get(tenantId, piece.parent_run_id)?.trace_id;
