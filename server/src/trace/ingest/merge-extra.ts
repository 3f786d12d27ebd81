import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { EXTRA_PATCHED } from "./patched-fields.ts";
import { covers, type RunMemory } from "./run-memory.ts";
import type { Resolved } from "./resolve-runs.ts";
import { readFacts } from "./run-piece.ts";

type Json = Record<string, unknown>;

/**
 * Merges each `extra` with the previous one: by key, and its metadata by key. Storage keeps the last
 * text, so a text that lacks earlier keys is completed here. The SDKs send all keys every time, which comparing key
 * sets shows; the stored text is read only if keys are missing.
 */
export async function mergeExtras(
  { clickhouse, memory }: { clickhouse: ClickHouse; memory: RunMemory },
  tenantId: string,
  resolved: readonly Resolved[],
): Promise<void> {
  const stored = await readStored(
    clickhouse,
    tenantId,
    resolved.filter((piece) => needsStored(piece, memory)),
  );
  // later pieces of a run see the results of earlier ones in the same group
  const merged = new Map<string, Json>();
  for (const { piece, run } of resolved) {
    const before = merged.get(piece.id) ?? stored.get(piece.id);
    if (before && run.shape === undefined) {
      const { metadata, model } = readFacts(before);
      run.shape = memory.internShape(before, metadata);
      run.model ??= model && memory.internModel(model);
    }
    if (!piece.extra) continue;
    const late = piece.kind === "post" && ((run.patched ?? 0) & EXTRA_PATCHED) !== 0;
    if (before) piece.extra = late ? merge(piece.extra, before) : merge(before, piece.extra);
    if (before) piece.fields.extra = JSON.stringify(piece.extra);
    if (late && !before) {
      // the updated `extra` already has every key of this one
      delete piece.extra;
      delete piece.fields.extra;
      continue;
    }
    merged.set(piece.id, piece.extra);
    const { metadata, model } = readFacts(piece.extra);
    run.shape = memory.internShape(piece.extra, metadata);
    if (model) run.model = memory.internModel(model);
    if (piece.kind === "patch" && run.patched !== undefined) run.patched |= EXTRA_PATCHED;
  }
}

function needsStored({ piece, run, isNew }: Resolved, memory: RunMemory): boolean {
  if (isNew) return false;
  const needsModel = piece.usage !== undefined && piece.usage.total_cost === undefined && run.model === undefined;
  if (run.shape === undefined) return piece.extra !== undefined || needsModel;
  if (!piece.extra) return false;
  const shape = memory.internShape(piece.extra, readFacts(piece.extra).metadata);
  if (!shape) return true;
  const late = piece.kind === "post" && ((run.patched ?? 0) & EXTRA_PATCHED) !== 0;
  return late ? !covers(run.shape, shape) : !covers(shape, run.shape);
}

/** Reads the stored, merged extras of runs. The key's three columns bound the read. */
async function readStored(clickhouse: ClickHouse, tenantId: string, needed: Resolved[]): Promise<Map<string, Json>> {
  if (needed.length === 0) return new Map();
  const rows = await clickhouse.rows<{ id: string; extra: string | null }>({
    name: "runs.extra",
    query: `select id, extra from runs final
      where tenant_id = {tenant:UUID} and project_id in {projects:Array(UUID)}
        and start_time in {starts:Array(DateTime64(6, 'UTC'))} and id in {ids:Array(UUID)}`,
    params: {
      tenant: tenantId,
      projects: unique(needed.map(({ run }) => run.project_id)),
      starts: unique(needed.map(({ run }) => run.start_time)),
      ids: unique(needed.map(({ piece }) => piece.id)),
    },
  });
  return new Map(rows.map(({ id, extra }) => [id, extra === null ? {} : (JSON.parse(extra) as Json)]));
}

/** Merges; `b` wins. */
function merge(a: Json, b: Json): Json {
  const merged = { ...a, ...b };
  const metadata = { ...readFacts(a).metadata, ...readFacts(b).metadata };
  if (a["metadata"] !== undefined || b["metadata"] !== undefined) merged["metadata"] = metadata;
  return merged;
}

const unique = (values: string[]): string[] => [...new Set(values)];
