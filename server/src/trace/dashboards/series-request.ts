import { unprocessable } from "../../base/errors.ts";
import { readFilter } from "../filter/read-filter.ts";
import { type MicroTime, parseTime } from "../run-rows/times.ts";
import { readCounted } from "../rule-candidates/rule-filters.ts";
import { limited } from "../runs/limited.ts";
import type { RunSelection } from "../runs/selection.ts";
import type { Grouping } from "../runs/stats.ts";
import type { SeriesMetric } from "./series-metrics.ts";

/** Filters of the filter language (docs/filter-language.md), and what is counted: by default all runs. */
export interface SeriesFilters {
  filter?: string | null | undefined;
  trace_filter?: string | null | undefined;
  tree_filter?: string | null | undefined;
  /** `traces`: the head of each trace stands for it. A filter that requires `is_root` means the same. */
  runs?: "all" | "traces" | "llm" | "tool" | undefined;
}

/** Key by which runs are grouped. Models, commits of prompts and revisions are in the metadata. */
export interface SeriesGroupBy {
  attribute:
    | "name"
    | "run_type"
    | "tag"
    | "metadata"
    | "project"
    | "error_kind"
    | "model"
    | "prompt_commit"
    | "revision"
    | "graph"
    | "assistant"
    | "status"
    | "feedback";
  /** Metadata key, or key of the feedback. */
  path?: string | null | undefined;
  /** Groups with the most runs; all others are one, named OTHER. */
  max_groups?: number | undefined;
}

export interface SeriesRequest {
  metric: SeriesMetric;
  /** Metrics of feedback: all feedback without it. */
  feedback_key?: string | null | undefined;
  projects?: readonly string[] | undefined;
  filters?: SeriesFilters | undefined;
  group_by?: SeriesGroupBy | null | undefined;
  /** Runs that started at `since` or later, and before `until`. */
  since: Date;
  until: Date;
  /** Buckets begin at multiples of it since 1970, moved by `offsetSeconds`, such as that of a time zone. */
  stepSeconds: number;
  offsetSeconds?: number | undefined;
}

/** Name of the group of all runs beyond the largest groups. */
export const OTHER = "(other)";

export const MAX_GROUPS = 50;

/** Buckets of a series, over all groups. */
export const MAX_POINTS = 10_000;

export const METADATA_KEYS = {
  model: "ls_model_name",
  prompt_commit: "lc_hub_commit_hash",
  revision: "revision_id",
  graph: "graph_id",
  assistant: "assistant_id",
} as const;

type ByRuns = SeriesGroupBy & { attribute: Exclude<SeriesGroupBy["attribute"], "feedback"> };

/** @throws 422 for a grouping by metadata or feedback without a key */
export function readGroupBy(by: ByRuns | null | undefined): Grouping | undefined;
export function readGroupBy(
  by: SeriesGroupBy | null | undefined,
): Grouping | { attribute: "feedback"; path: string } | undefined;
export function readGroupBy(
  by: SeriesGroupBy | null | undefined,
): Grouping | { attribute: "feedback"; path: string } | undefined {
  if (!by) return undefined;
  const { attribute, path } = by;
  switch (attribute) {
    case "model":
    case "prompt_commit":
    case "revision":
    case "graph":
    case "assistant":
      return { attribute: "metadata", path: METADATA_KEYS[attribute] };
    case "metadata":
    case "feedback":
      if (path == null || path === "") throw unprocessable(`A grouping by ${attribute} needs the key in path.`);
      return { attribute, path };
    case "status":
      throw unprocessable("Only metrics of agents are grouped by status. Group runs by error_kind.");
    default:
      return { attribute };
  }
}

/** Returns a time as the store has it. @throws 422 for one that it cannot have */
export function boundOf(date: Date): MicroTime {
  const bound = parseTime(date.getTime());
  if (bound === undefined) throw unprocessable("The period must be between 1900 and 2299.");
  return bound;
}

/** @throws FilterError (400), and 422 for more conditions or points than a request may have */
export function readSelection(request: Omit<SeriesRequest, "metric">): RunSelection {
  const { since, until, stepSeconds, projects, filters = {} } = request;
  const length = (until.getTime() - since.getTime()) / 1000;
  if (!(length > 0)) throw unprocessable("The end of the period must be after its start.");
  if (length / stepSeconds > MAX_POINTS) {
    throw unprocessable(
      `The period has more than ${MAX_POINTS} steps of ${stepSeconds} s. Choose longer steps (stride).`,
    );
  }
  const [from, before] = [boundOf(since), boundOf(until)];
  const filter = filters.filter ? readFilter(filters.filter) : undefined;
  return limited({
    projects,
    since: from,
    before,
    ...(filter && readCounted(filter)),
    trace_filter: filters.trace_filter ? readFilter(filters.trace_filter) : undefined,
    tree_filter: filters.tree_filter ? readFilter(filters.tree_filter) : undefined,
    ...(filters.runs === "traces" && { is_head: true }),
    ...((filters.runs === "llm" || filters.runs === "tool") && { run_types: [filters.runs] }),
  });
}
