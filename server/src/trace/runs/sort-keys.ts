/** Keys by which lists of runs are sorted. `feedback:<key>`: the mean score of a run's feedback with that key. */
export const SORT_KEYS = ["start_time", "latency", "first_token", "total_tokens", "total_cost", "name"] as const;

const FEEDBACK = "feedback:";
const MAX_FEEDBACK_KEY = 200;

export type SortKey = (typeof SORT_KEYS)[number] | `feedback:${string}`;

export function isSortKey(text: string): text is SortKey {
  if (SORT_KEYS.includes(text as (typeof SORT_KEYS)[number])) return true;
  const key = text.startsWith(FEEDBACK) ? text.slice(FEEDBACK.length) : "";
  return key !== "" && key.length <= MAX_FEEDBACK_KEY && !key.includes("\0");
}

/** Keys by which lists of threads are sorted; `start_time` is that of the latest turn. */
export type ThreadSortKey = Exclude<SortKey, "first_token" | "name">;

export const THREAD_SORT_KEYS = "start_time, latency, total_tokens, total_cost or feedback:<key>";

export const isThreadSortKey = (text: string): text is ThreadSortKey =>
  isSortKey(text) && text !== "first_token" && text !== "name";

/** Returns the feedback key of a sort key; undefined for other sort keys. */
export const feedbackKeyOf = (key: SortKey): string | undefined =>
  key.startsWith(FEEDBACK) ? key.slice(FEEDBACK.length) : undefined;
