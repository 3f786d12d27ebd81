import type { ProjectSearch, ProjectSort } from "./queries.ts";

const SORTS: ProjectSort[] = ["name", "last_run_start_time", "latency_p50", "latency_p99", "error_rate", "runs_count"];

/** Defaults, which the URL omits. */
export const PROJECT_SEARCH: ProjectSearch = {
  text: "",
  sort: "last_run_start_time",
  desc: true,
  experiments: false,
  tags: "",
};

/** Reads the list's search parameters; invalid values are ignored. */
export function readProjectSearch(search: Partial<Record<keyof ProjectSearch, unknown>>): Partial<ProjectSearch> {
  const { text, sort, desc, experiments, tags } = search;
  return {
    text: typeof text === "string" ? text : "",
    sort: SORTS.includes(sort as ProjectSort) ? (sort as ProjectSort) : "last_run_start_time",
    desc: desc !== false,
    experiments: experiments === true,
    tags: typeof tags === "string" ? tags : "",
  };
}
