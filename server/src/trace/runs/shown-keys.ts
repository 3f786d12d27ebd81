/**
 * Remembers where the runs are that lists have shown, since those are the ones that are asked for next: a key costs 3 ms of
 * the 12 in which a run is read. A key never changes; that of a run that is gone or was written anew finds nothing.
 */
import type { RunKey } from "../run-rows/clickhouse.ts";

export type ShownKey = Omit<RunKey, "deleted">;

/** A few hundred bytes each. */
const MAX_KEYS = 5_000;

const keys = new Map<string, ShownKey>();

/** Remembers the newest rows of a list; the oldest keys give way. */
export function noteShown(
  tenantId: string,
  rows: readonly (Omit<ShownKey, "trace_id"> & { trace_id?: string })[],
): void {
  for (const { id, project_id, start_time, trace_id } of rows.slice(0, MAX_KEYS)) {
    if (trace_id === undefined) continue;
    keys.delete(tenantId + id);
    keys.set(tenantId + id, { id, project_id, start_time, trace_id });
    if (keys.size > MAX_KEYS) keys.delete(keys.keys().next().value!);
  }
}

export const shownKey = (tenantId: string, id: string): ShownKey | undefined => keys.get(tenantId + id);
