import { callsModel, type RunRow } from "../run-rows/clickhouse.ts";
import type { Resolved } from "./resolve-runs.ts";
import type { KnownRun, RunMemory } from "./run-memory.ts";

/**
 * Marks calls whose usage another one already has: a function traced as a model call, and within it the client's own
 * trace of the same call. Sums leave marked runs out. Decided from the runs that this process remembers, which the
 * runs of one call nearly always are.
 * @returns pieces of runs stored earlier
 */
export function markRepeatedUsage(
  memory: RunMemory,
  tenantId: string,
  written: readonly { entry: Resolved; row: RunRow }[],
  now: string,
): RunRow[] {
  const rows = new Map<string, RunRow>();
  const changed = new Set<string>();
  for (const { entry, row } of written) {
    const { call } = entry.run;
    if (row.parent_run_id !== undefined) call.parentId = row.parent_run_id;
    if (row.run_type !== undefined) call.isModel = callsModel(row.run_type);
    const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = row;
    if (prompt + completion > 0) {
      call.usage = { prompt, completion, hasCost: row.total_cost !== undefined };
      changed.add(row.id);
    }
    rows.set(row.id, row);
  }
  const pieces = new Map<string, RunRow>();
  const write = (id: string, run: KnownRun) => {
    const repeats_usage = run.call.repeats.below || run.call.repeats.above;
    const row = rows.get(id);
    if (row) row.repeats_usage = repeats_usage;
    else {
      const { project_id, start_time, trace_id } = run;
      const key = { tenant_id: tenantId, project_id, start_time, id, trace_id, updated_at: now };
      pieces.set(id, { ...key, repeats_usage });
    }
  };
  const outer = new Set<string>();
  for (const id of changed) {
    const run = memory.get(tenantId, id);
    if (!run?.call.isModel) continue;
    outer.add(id);
    const { parentId } = run.call;
    const parent = parentId === undefined ? undefined : memory.get(tenantId, parentId);
    // with OpenTelemetry the parent is sent later
    if (parentId === undefined || parent?.call.isModel === false) continue;
    memory.addCallWithin(tenantId, parentId, id);
    if (parent) outer.add(parentId);
  }
  for (const id of outer) compare(memory, tenantId, id, write);
  return [...pieces.values()];
}

/** Compares a call with those within it. */
function compare(memory: RunMemory, tenantId: string, id: string, write: (id: string, run: KnownRun) => void): void {
  const run = memory.get(tenantId, id)!;
  const { usage, repeats, isModel } = run.call;
  if (!isModel) return;
  const inner = Array.from(memory.callsWithin(tenantId, id), (id) => ({ id, run: memory.get(tenantId, id) })).flatMap(
    ({ id, run }) => (run?.call.usage ? [{ id, run, usage: run.call.usage }] : []),
  );
  if (!usage || inner.length === 0) return;
  const same = inner.filter((call) => isEqual(call.usage, usage));
  const sum = (side: "prompt" | "completion") => inner.reduce((total, call) => total + call.usage[side], 0);
  const isSum = isEqual({ prompt: sum("prompt"), completion: sum("completion") }, usage);
  const repeated = same.length > 0 ? same : isSum ? inner : [];
  // the one that has a cost counts
  const keepsOuter = repeated.length > 0 && usage.hasCost && repeated.every((call) => !call.usage.hasCost);
  const isRepeated = repeated.length > 0 && !keepsOuter;
  if (repeats.below !== isRepeated) {
    repeats.below = isRepeated;
    write(id, run);
  }
  for (const call of inner) {
    const isAbove = keepsOuter && repeated.includes(call);
    if (call.run.call.repeats.above === isAbove) continue;
    call.run.call.repeats.above = isAbove;
    write(call.id, call.run);
  }
}

type Tokens = { prompt: number; completion: number };
const isEqual = (a: Tokens, b: Tokens): boolean => a.prompt === b.prompt && a.completion === b.completion;
