import { NativeSelect } from "@mantine/core";

import type { Run } from "./run-record.ts";
import type { RunSearch, RunSort } from "./run-search.ts";

/** Returns the feedback keys with scores on these runs, the most frequent first. */
export function scoredKeys(runs: readonly Pick<Run, "feedback_stats">[]): string[] {
  const counts = new Map<string, number>();
  for (const { feedback_stats: stats } of runs) {
    for (const [key, value] of Object.entries((stats ?? {}) as Record<string, { avg?: number | null }>)) {
      if (value.avg != null) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return Array.from(counts)
    .toSorted(([a, n], [b, m]) => m - n || a.localeCompare(b))
    .map(([key]) => key);
}

/** Returns the sort key for a click on the column: the current feedback, else the most frequent one. */
export const feedbackSort = (current: RunSort, keys: readonly string[]): RunSort | undefined =>
  current.startsWith("feedback:") ? current : keys[0] === undefined ? undefined : `feedback:${keys[0]}`;

interface FeedbackSortProps {
  search: RunSearch;
  keys: readonly string[];
  onChange: (changes: Partial<RunSearch>) => void;
}

/** Selects the feedback by which the list is sorted, while it is sorted by one. */
export function FeedbackSort({ search, keys, onChange }: FeedbackSortProps) {
  if (!search.sort.startsWith("feedback:")) return null;
  const current = search.sort.slice("feedback:".length);
  return (
    <NativeSelect
      size="xs"
      aria-label="Feedback to sort by"
      data={[...new Set([current, ...keys])]}
      value={current}
      onChange={({ currentTarget: { value } }) => onChange({ sort: `feedback:${value}` })}
    />
  );
}
