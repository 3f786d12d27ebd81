import type { RunRow } from "../run-rows/clickhouse.ts";

/**
 * Fields that both a create and an update may set, with their derived columns. The update's value wins in either order
 * of arrival.
 */
const PATCHABLE: readonly (readonly (keyof RunRow)[])[] = [
  ["name"],
  ["run_type"],
  ["end_time"],
  ["status"],
  ["error"],
  ["inputs", "inputs_preview", "input_pairs"],
  ["outputs", "outputs_preview", "output_pairs"],
  ["events", "first_token_time"],
  ["serialized"],
  ["tags"],
  ["reference_example_id"],
  ["total_tokens", "prompt_tokens", "completion_tokens", "total_cost", "prompt_cost", "completion_cost", "cost_basis"],
];

/** Bit of `extra`, which is merged key by key rather than replaced. */
export const EXTRA_PATCHED = 1 << 20;

/** Bit of the create, and of an update that was the first piece of its run. */
export const CREATED = 1 << 21;
export const UPDATED_FIRST = 1 << 22;

/** Whether an update of the run has arrived, and its create has not. */
export const LACKS_CREATE = `bitAnd(patched, ${CREATED | UPDATED_FIRST}) = ${UPDATED_FIRST}`;

/** Returns the bit mask of the fields that a row sets. */
export function patchedBy(row: Partial<RunRow>): number {
  let mask = 0;
  PATCHABLE.forEach(([field], i) => {
    if (row[field!] !== undefined) mask |= 1 << i;
  });
  return mask;
}

/** Removes the fields that updates have set from the row of a late create. */
export function withoutPatched(row: RunRow, patched: number): void {
  if (patched === 0) return;
  PATCHABLE.forEach((fields, i) => {
    if (patched & (1 << i)) for (const field of fields) (row as unknown as Record<string, unknown>)[field] = undefined;
  });
}
