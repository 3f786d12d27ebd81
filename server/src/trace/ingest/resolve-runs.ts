import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { ProjectDirectory } from "../projects/project-directory.ts";
import { findPieces, findRunKeys } from "../run-rows/clickhouse.ts";
import type { RunHistory } from "./run-history.ts";
import { type KnownRun, NO_SHAPE, type RunMemory, newCall } from "./run-memory.ts";
import type { RunPiece } from "./run-piece.ts";

export interface Resolved {
  piece: RunPiece;
  run: KnownRun;
  /** Whether this is the run's first piece. */
  isNew: boolean;
  /** Whether its key must be written: the run is new, or its trace differs from the assumed one. */
  writesKey: boolean;
  /** Whether it names its parent but not its place in the trace, which then depends on the parent's. */
  placeless: boolean;
  /** The trace that the stored run was assumed to be of, if it turns out to be of another. */
  movedFrom?: string | undefined;
}

export interface ResolveDeps {
  clickhouse: ClickHouse;
  projects: ProjectDirectory;
  memory: RunMemory;
  history: Pick<RunHistory, "mayExist" | "mayBeDeleted">;
}

export interface Resolution {
  resolved: Resolved[];
  /** Updates of runs that are not known yet. */
  waiting: RunPiece[];
}

/**
 * Resolves the run of each piece, that is, the key of its row. The first piece determines it.
 *
 * A create with a start time needs no query, unless its run may already exist (run-history.ts): a repeated create has
 * the same key. All other pieces are looked up unless this process remembers their run. An update whose run is not
 * found creates it if it names project and start itself, and waits otherwise. Pieces of deleted runs are dropped.
 */
export async function resolveRuns(
  { clickhouse, projects, memory, history }: ResolveDeps,
  tenantId: string,
  pieces: readonly RunPiece[],
): Promise<Resolution> {
  const { deleted, keyOnly } = await recall({ clickhouse, memory, history }, tenantId, pieces);
  const result: Resolution = { resolved: [], waiting: [] };
  for (const piece of pieces) {
    if (deleted.has(piece.id) || (piece.trace_id !== undefined && deleted.has(piece.trace_id))) continue;
    const known = memory.get(tenantId, piece.id);
    const placeless =
      piece.kind === "post" && piece.fields.dotted_order === undefined && piece.parent_run_id !== undefined;
    if (known) {
      const moves = piece.trace_id !== undefined && piece.trace_id !== known.trace_id;
      const movedFrom = moves ? known.trace_id : undefined;
      if (moves) known.trace_id = piece.trace_id!;
      const isNew = keyOnly.delete(piece.id);
      result.resolved.push({ piece, run: known, isNew, writesKey: moves, placeless, movedFrom });
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

/**
 * Looks up pieces that do not identify their run's location, and those that may be late.
 *
 * @returns ids of deleted runs and traces, and of runs of which only the key was stored
 */
async function recall(
  { clickhouse, memory, history }: Pick<ResolveDeps, "clickhouse" | "memory" | "history">,
  tenantId: string,
  pieces: readonly RunPiece[],
): Promise<{ deleted: Set<string>; keyOnly: Set<string> }> {
  const missing = new Set<string>();
  for (const { kind, id, trace_id, start_time } of pieces) {
    if (memory.get(tenantId, id)) continue;
    if (kind === "patch" || start_time === undefined || history.mayExist(id)) missing.add(id);
    // an unknown run of a deleted trace
    if (trace_id !== undefined && trace_id !== id && history.mayBeDeleted(trace_id)) missing.add(trace_id);
  }
  const deleted = new Set<string>();
  for (const key of await findRunKeys(clickhouse, tenantId, [...missing])) {
    if (key.deleted) deleted.add(key.id);
    else if (!memory.get(tenantId, key.id)) {
      const { project_id, start_time, trace_id } = key;
      const unknown = { shape: undefined, model: undefined, patched: undefined, call: newCall() };
      memory.set(tenantId, key.id, { project_id, start_time, trace_id, ...unknown });
    }
  }
  return { deleted, keyOnly: await recallPatched({ clickhouse, memory }, tenantId, pieces) };
}

/**
 * Loads the fields set by updates; only creates need them.
 * @returns runs of which only the key was stored, by a process that was killed then
 */
async function recallPatched(
  { clickhouse, memory }: Pick<ResolveDeps, "clickhouse" | "memory">,
  tenantId: string,
  pieces: readonly RunPiece[],
): Promise<Set<string>> {
  const keyOnly = new Set<string>();
  const unread = new Map<string, KnownRun & { id: string }>();
  for (const { kind, id } of pieces) {
    const known = kind === "post" ? memory.get(tenantId, id) : undefined;
    if (known && known.patched === undefined) unread.set(id, { ...known, id });
  }
  const found = await findPieces(clickhouse, tenantId, [...unread.values()]);
  for (const id of unread.keys()) {
    const stored = found.get(id);
    memory.get(tenantId, id)!.patched = stored?.bits ?? 0;
    if (!stored) keyOnly.add(id);
  }
  return keyOnly;
}

async function begin(
  { projects, memory }: { projects: ProjectDirectory; memory: RunMemory },
  tenantId: string,
  piece: RunPiece,
): Promise<KnownRun | undefined> {
  const namesProject = piece.project_id !== undefined || piece.project_name !== undefined;
  if (piece.kind === "patch" && !(namesProject && piece.start_time)) return undefined;
  const project_id = piece.project_id ?? (await projects.ensureProject(tenantId, piece.project_name));
  return {
    project_id,
    start_time: piece.start_time ?? piece.received_at,
    trace_id: piece.trace_id ?? parentTrace(memory, tenantId, piece) ?? piece.parent_run_id ?? piece.id,
    shape: NO_SHAPE,
    model: undefined,
    patched: 0,
    call: newCall(),
  };
}

const parentTrace = (memory: RunMemory, tenantId: string, piece: RunPiece): string | undefined =>
  piece.parent_run_id && memory.get(tenantId, piece.parent_run_id)?.trace_id;
