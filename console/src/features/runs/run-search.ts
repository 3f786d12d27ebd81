import { rangeBounds, isPreset, type PRESETS, type TimeRange } from "../../ui/time-range.ts";

/** Search parameters of a project's page. */
export const TABS = ["traces", "llm", "all", "threads"] as const;
export type Tab = (typeof TABS)[number];

/** Sort keys of `/runs/query`. */
const SORTS = ["start_time", "latency", "first_token", "total_tokens", "total_cost", "name"] as const;
export type RunSort = (typeof SORTS)[number] | `feedback:${string}`;

export const isRunSort = (value: unknown): value is RunSort =>
  SORTS.includes(value as (typeof SORTS)[number]) || (typeof value === "string" && /^feedback:.{1,200}$/s.test(value));

export interface RunSearch {
  tab: Tab;
  /** Filters on each run, on its root, on any run of its trace (docs/filter-language.md). */
  filter: string;
  trace_filter: string;
  tree_filter: string;
  /** Text to find anywhere in a run. */
  text: string;
  last: keyof typeof PRESETS;
  /** ISO 8601; when both are given, `last` is ignored. */
  from: string;
  to: string;
  sort: RunSort;
  /** Newest or largest first. */
  desc: boolean;
  live: boolean;
  /** Id of the open saved view, from which the list may differ; and its columns, `name,cost`. */
  view: string;
  columns: string;
  /** In the tab for threads: the replayed thread, and its turn, from 1. */
  thread: string;
  turn: number;
}

/** Defaults, which the URL omits. */
export const RUN_SEARCH: RunSearch = {
  tab: "traces",
  filter: "",
  trace_filter: "",
  tree_filter: "",
  text: "",
  last: "7d",
  from: "",
  to: "",
  sort: "start_time",
  desc: true,
  live: true,
  view: "",
  columns: "",
  thread: "",
  turn: 0,
};

/** Reads the search parameters; invalid values are ignored. */
export function readRunSearch(search: Partial<Record<keyof RunSearch, unknown>>): Partial<RunSearch> {
  const text = (value: unknown): string =>
    typeof value === "string" || typeof value === "number" ? String(value).slice(0, 65_536) : "";
  const time = (value: unknown): string => (typeof value === "string" && !Number.isNaN(Date.parse(value)) ? value : "");
  const { tab, last, sort } = search;
  return {
    tab: TABS.includes(tab as Tab) ? (tab as Tab) : RUN_SEARCH.tab,
    filter: text(search.filter),
    trace_filter: text(search.trace_filter),
    tree_filter: text(search.tree_filter),
    text: text(search.text),
    last: isPreset(last) ? last : RUN_SEARCH.last,
    from: time(search.from),
    to: time(search.to),
    sort: isRunSort(sort) ? sort : RUN_SEARCH.sort,
    desc: search.desc !== false,
    live: search.live !== false,
    view: text(search.view),
    columns: text(search.columns).slice(0, 2000),
    thread: text(search.thread),
    turn: Number.isSafeInteger(search.turn) ? Number(search.turn) : RUN_SEARCH.turn,
  };
}

export const searchRange = ({ last, from, to }: RunSearch): TimeRange =>
  from !== "" && to !== "" ? { from, to } : { last };

/** Whether new runs appear at the top of the list. */
export const isNewestFirst = ({ sort, desc, to }: RunSearch): boolean => sort === "start_time" && desc && to === "";

/**
 * Returns the bounds of start times for queries; a range that ends now has no upper bound, so that later runs match
 * too.
 */
export function boundsAt(search: RunSearch, now: number): { start_time: string; end_time?: string } {
  const range = searchRange(search);
  const { from, to } = rangeBounds(range, now);
  return { start_time: new Date(from).toISOString(), ...("to" in range && { end_time: new Date(to).toISOString() }) };
}
