import type { RunRow } from "../run-rows/clickhouse.ts";
import { isHead, type KnownRun } from "./evaluate-known.ts";

/**
 * Sums usage over a trace of which all runs are known, as runs/trace-sums.ts does in ClickHouse. Costs are approximate.
 * @returns null where no run has a value, undefined where it is not decided
 */
export function sumUsage(trace: readonly KnownRun[]): (name: string) => number | null | undefined {
  const sums = new Map<string, number | null | undefined>();
  return (name) => {
    if (!sums.has(name)) sums.set(name, sumOf(trace, name as keyof RunRow));
    return sums.get(name);
  };
}

function sumOf(trace: readonly KnownRun[], name: keyof RunRow): number | null | undefined {
  const found = trace.flatMap((known) => {
    const value = known.row[name];
    return value === undefined ? [] : [{ known, value: Number(value) }];
  });
  const sum = (some: typeof found) => some.reduce((total, { value }) => total + value, 0);
  const calls = found.filter(({ known }) => isCall(known.row));
  if (calls.length > 0) return sum(calls);
  const heads = found.filter(({ known }) => isHead(known) === true);
  // of several heads any
  if (heads.length > 1) return undefined;
  if (heads.length === 1) return heads[0]!.value;
  return found.length > 0 ? sum(found) : null;
}

/** Whether the run is a model call whose usage counts (run-rows/clickhouse.ts, IS_CALL). */
const isCall = ({ run_type, repeats_usage }: RunRow): boolean =>
  (run_type === "llm" || run_type === "embedding") && repeats_usage !== true;
