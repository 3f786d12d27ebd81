/** Arranges the statistics of a prompt's commits, so that a regression is seen from one commit to the next. */
import type { Commit, CommitStatistics } from "./queries.ts";

export interface Metric {
  id: string;
  title: string;
  unit: "milliseconds" | "share" | "dollars" | "tokens" | "score";
  isHigherBetter: boolean;
  /** Largest value of all commits. */
  most: number;
}

type Values = Record<string, number | null>;

export interface MetricRow {
  hash: string;
  statistics: CommitStatistics;
  values: Values;
  /** Values of the next older commit that has traces. */
  before: Values;
}

/** Number of feedback keys that are shown, the most frequent ones. */
const FEEDBACK_KEYS = 3;

const FIXED: Omit<Metric, "most">[] = [
  { id: "p50", title: "Latency P50", unit: "milliseconds", isHigherBetter: false },
  { id: "p99", title: "Latency P99", unit: "milliseconds", isHigherBetter: false },
  { id: "errors", title: "Error rate", unit: "share", isHigherBetter: false },
  { id: "cost", title: "Cost", unit: "dollars", isHigherBetter: false },
  { id: "tokens", title: "Tokens", unit: "tokens", isHigherBetter: false },
];

/**
 * Returns the rows, newest commit first, and the metrics with their largest values.
 * @param commits newest first; commits that are not among them follow by their first run
 */
export function commitMetrics(
  statistics: CommitStatistics[],
  commits: Commit[],
): { metrics: Metric[]; rows: MetricRow[] } {
  const place = new Map(commits.map(({ commit_hash: hash }, index) => [hash, index]));
  const position = ({ commit_hash: hash }: CommitStatistics) => place.get(hash) ?? commits.length;
  const ordered = statistics.toSorted(
    (a, b) => position(a) - position(b) || Date.parse(b.first_run_at ?? "") - Date.parse(a.first_run_at ?? ""),
  );
  const counts = new Map<string, number>();
  for (const { feedback } of statistics) {
    for (const [name, { n, avg }] of Object.entries(feedback)) {
      if (avg !== null) counts.set(name, (counts.get(name) ?? 0) + n);
    }
  }
  const keys = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, FEEDBACK_KEYS);
  const chosen = [
    ...FIXED,
    ...keys.map(([name]) => ({
      id: `feedback ${name}`,
      title: name,
      unit: "score" as const,
      isHigherBetter: true,
    })),
  ];
  const values = ordered.map(readValues);
  const metrics = chosen
    .map((metric) => ({ ...metric, most: Math.max(0, ...values.map((row) => row[metric.id] ?? 0)) }))
    // without prices and tokens a column says nothing
    .filter(({ id, most }) => most > 0 || (id !== "cost" && id !== "tokens"));
  const rows = ordered.map((row, index) => ({
    hash: row.commit_hash,
    statistics: row,
    values: values[index]!,
    before: values[index + 1] ?? {},
  }));
  return { metrics, rows };
}

function readValues(row: CommitStatistics): Values {
  const traces = Math.max(1, row.run_count);
  const feedback = Object.entries(row.feedback).map(([name, { avg }]) => [`feedback ${name}`, avg] as const);
  return {
    p50: row.latency_p50_ms,
    p99: row.latency_p99_ms,
    errors: row.error_count / traces,
    cost: Number(row.total_cost) / traces,
    tokens: row.total_tokens / traces,
    ...Object.fromEntries(feedback),
  };
}

/** Smallest relative change that is shown. */
const LEAST = 0.05;

/** Describes the change from the commit before: `+35%`; error rates and scores by their difference. */
export function describeChange(
  { unit, isHigherBetter }: Pick<Metric, "unit" | "isHigherBetter">,
  value: number | null,
  before: number | null,
): { text: string; isUp: boolean; isWorse: boolean } | null {
  if (value === null || before === null) return null;
  const difference = value - before;
  const isUp = difference > 0;
  const sign = isUp ? "+" : "−";
  const size = Math.abs(difference);
  const isWorse = isUp !== isHigherBetter;
  if (unit === "share") {
    return size < 0.01 ? null : { text: `${sign}${(size * 100).toFixed(0)} points`, isUp, isWorse };
  }
  if (unit === "score") return size < 0.01 ? null : { text: `${sign}${Number(size.toFixed(2))}`, isUp, isWorse };
  if (before === 0 || size / before < LEAST) return null;
  return { text: `${sign}${Math.round((size / before) * 100)}%`, isUp, isWorse };
}
