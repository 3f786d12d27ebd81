import type { operations } from "../../api/trace.d.ts";
import { isPreset } from "../../ui/time-range.ts";
import { isRunSort, RUN_SEARCH, type RunSearch } from "./run-search.ts";

export type View =
  operations["get_api_v1_sessions_session_id_views"]["responses"][200]["content"]["application/json"][number];
export type ViewBody = NonNullable<
  operations["post_api_v1_sessions_session_id_views"]["requestBody"]
>["content"]["application/json"];

/** Search parameters that a view contains. */
const VIEWED = [
  "tab",
  "filter",
  "trace_filter",
  "tree_filter",
  "text",
  "last",
  "from",
  "to",
  "sort",
  "desc",
  "columns",
] as const satisfies (keyof RunSearch)[];
export type ViewedSearch = Pick<RunSearch, (typeof VIEWED)[number]>;

const orNull = (text: string): string | null => (text.trim() === "" ? null : text);

/** @param columns visible columns in their order */
export function viewOfSearch(
  search: Omit<ViewedSearch, "columns">,
  columns: readonly string[],
): Omit<ViewBody, "display_name"> {
  const { tab, last, from, to } = search;
  const hasBounds = from !== "" && to !== "";
  return {
    type: tab === "threads" ? "threads" : "runs",
    filter_string: orNull(search.filter),
    trace_filter_string: orNull(search.trace_filter),
    tree_filter_string: orNull(search.tree_filter),
    start_time: hasBounds ? from : null,
    end_time: hasBounds ? to : null,
    duration: hasBounds ? null : last,
    list: {
      query: orNull(search.text),
      is_root: tab === "traces" ? true : null,
      run_type: tab === "llm" ? "llm" : null,
      order_by: search.sort,
      order: search.desc ? "desc" : "asc",
      columns: tab === "threads" ? null : [...columns],
    },
  };
}

/** Returns the search of a view. Views of other clients have no `list`: they show traces, newest first. */
export function searchOfView(view: View): ViewedSearch {
  const { list, duration, start_time: from, end_time: to } = view;
  const tab =
    view.type === "threads"
      ? "threads"
      : list.run_type === "llm"
        ? "llm"
        : list.is_root === undefined || list.is_root
          ? "traces"
          : "all";
  return {
    tab,
    filter: view.filter_string ?? "",
    trace_filter: view.trace_filter_string ?? "",
    tree_filter: view.tree_filter_string ?? "",
    text: list.query ?? "",
    last: isPreset(duration) ? duration : RUN_SEARCH.last,
    from: from ?? "",
    // other clients save ranges without an end
    to: from === null ? "" : (to ?? "2100-01-01T00:00:00Z"),
    sort: isRunSort(list.order_by) ? list.order_by : RUN_SEARCH.sort,
    desc: list.order !== "asc",
    columns: list.columns?.join(",") ?? "",
  };
}

/** Whether the list differs from the view; the spelling of its times does not matter. */
export function isChanged(view: View, search: RunSearch): boolean {
  const saved = searchOfView(view);
  return VIEWED.some((key) =>
    (key === "from" || key === "to") && saved[key] !== "" && search[key] !== ""
      ? Date.parse(saved[key]) !== Date.parse(search[key])
      : saved[key] !== search[key],
  );
}

/** Whether the search is the one with which a project opens. */
export const isUntouched = (search: RunSearch): boolean =>
  VIEWED.every((key) => search[key] === RUN_SEARCH[key]) && search.thread === "";
