import type { JobRow } from "./sql.ts";

/** Serializes an experiment with its progress. */
export function serializeJob({ sums, ...live }: JobRow, consoleUrl: string): object {
  const row = { ...live, ...(sums as object | null) } as JobRow & Sums;
  const { total, done, failed, running, judge_failures, recent, recent_seconds, p50, p95, p99, full_count, ...rest } =
    row;
  void full_count;
  return {
    ...rest,
    url: `${consoleUrl.replace(/\/$/, "")}/experiments/${row.id}`,
    progress: {
      ...{ total, done, failed, running, judge_failures },
      seconds_left: secondsLeft({ status: row.status, total, done, recent, recent_seconds }),
    },
    latency_ms: { p50, p95, p99 },
    error_rate: done === 0 ? null : failed / done,
  };
}

interface Sums {
  total: number;
  done: number;
  failed: number;
  running: number;
  judge_failures: number;
  /** Rows that ended in the last two minutes, and the seconds since the first of them. */
  recent: number;
  recent_seconds: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  full_count?: number;
}

function secondsLeft({
  status,
  total,
  done,
  recent,
  recent_seconds: seconds,
}: Pick<Sums, "total" | "done" | "recent" | "recent_seconds"> & { status: string }): number | null {
  if (status !== "running" || recent < 2 || !seconds) return null;
  return Math.round(((total - done) * seconds) / recent);
}
