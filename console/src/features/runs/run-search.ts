import { boundsOf, isPreset, type PRESETS, type TimeRange } from "../../ui/time-range.ts";

/** What the address says of a project's page. */
export const TABS = ["traces", "llm", "all", "threads"] as const;
export type Tab = (typeof TABS)[number];

export interface RunSearch {
  tab: Tab;
  /** Of each run, of its root, of any run of its trace (docs/filter-language.md). */
  filter: string;
  trace_filter: string;
  tree_filter: string;
  /** Text anywhere in a run. */
  text: string;
  last: keyof typeof PRESETS;
  /** ISO 8601; both given, `last` does not count. */
  from: string;
  to: string;
  /** Newest first. */
  desc: boolean;
  live: boolean;
}

/** What the address leaves out. */
export const RUN_SEARCH: RunSearch = {
  tab: "traces",
  filter: "",
  trace_filter: "",
  tree_filter: "",
  text: "",
  last: "7d",
  from: "",
  to: "",
  desc: true,
  live: true,
};

/** What makes no sense counts as not said. */
export function readRunSearch(given: Partial<Record<keyof RunSearch, unknown>>): Partial<RunSearch> {
  const text = (value: unknown): string =>
    typeof value === "string" || typeof value === "number" ? String(value).slice(0, 65_536) : "";
  const time = (value: unknown): string => (typeof value === "string" && !Number.isNaN(Date.parse(value)) ? value : "");
  const { tab, last } = given;
  return {
    tab: TABS.includes(tab as Tab) ? (tab as Tab) : RUN_SEARCH.tab,
    filter: text(given.filter),
    trace_filter: text(given.trace_filter),
    tree_filter: text(given.tree_filter),
    text: text(given.text),
    last: isPreset(last) ? last : RUN_SEARCH.last,
    from: time(given.from),
    to: time(given.to),
    desc: given.desc !== false,
    live: given.live !== false,
  };
}

export const rangeOf = ({ last, from, to }: RunSearch): TimeRange =>
  from !== "" && to !== "" ? { from, to } : { last };

/** Bounds of start times as queries want them; runs that begin after now count too while the range goes with it. */
export function boundsAt(search: RunSearch, now: number): { start_time: string; end_time?: string } {
  const range = rangeOf(search);
  const { from, to } = boundsOf(range, now);
  return { start_time: new Date(from).toISOString(), ...("to" in range && { end_time: new Date(to).toISOString() }) };
}
