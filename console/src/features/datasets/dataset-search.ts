import { COMPARISON_SEARCH, type ComparisonSearch, ORDERS } from "../experiments/comparison-search.ts";
import type { DatasetSearch, DatasetSort } from "./queries.ts";

const SORTS: DatasetSort[] = [
  "name",
  "created_at",
  "last_session_start_time",
  "example_count",
  "session_count",
  "modified_at",
];

/** Defaults, which the URL omits. */
export const DATASET_SEARCH: DatasetSearch = { text: "", sort: "modified_at", desc: true, tags: "" };

export function readDatasetSearch({ text, sort, desc, tags }: Record<string, unknown>): Partial<DatasetSearch> {
  return {
    text: typeof text === "string" ? text : "",
    sort: SORTS.includes(sort as DatasetSort) ? (sort as DatasetSort) : DATASET_SEARCH.sort,
    desc: desc !== false,
    tags: typeof tags === "string" ? tags : "",
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DATASET_TABS = ["examples", "experiments", "history", "compare", "versions", "duplicates", "proposals"] as const;
export type DatasetTab = (typeof DATASET_TABS)[number];

export interface OneDatasetSearch extends ComparisonSearch {
  tab: DatasetTab;
  text: string;
  /** Split whose examples are shown; empty: all. */
  split: string;
  /** Version whose examples are shown: its time or tag; empty: current ones. */
  version: string;
  /** Comma-separated ids of the compared experiments, as clients print them. */
  selectedSessions: string;
}
export const ONE_DATASET_SEARCH: OneDatasetSearch = {
  tab: "examples",
  text: "",
  split: "",
  version: "",
  selectedSessions: "",
  ...COMPARISON_SEARCH,
};

export function readOneDatasetSearch(
  search: Partial<Record<keyof OneDatasetSearch, unknown>>,
): Partial<OneDatasetSearch> {
  const ids = experimentIds(search.selectedSessions);
  return {
    tab: DATASET_TABS.includes(search.tab as DatasetTab) ? (search.tab as DatasetTab) : "examples",
    text: toText(search.text),
    split: toText(search.split),
    version: toText(search.version),
    selectedSessions: ids.join(","),
    baseline: experimentIds(search.baseline)[0] ?? "",
    order: ORDERS.find((order) => order === search.order) ?? "regressions",
    only: toText(search.only),
  };
}

/** Returns text; numbers in the URL are parsed, so they are converted back. */
const toText = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? `${value}` : "");

/** Returns at most as many ids as the server compares at once. */
export const experimentIds = (text: unknown): string[] =>
  [...new Set((typeof text === "string" ? text : "").split(",").map((id) => id.trim().toLowerCase()))]
    .filter((id) => UUID.test(id))
    .slice(0, 50);
