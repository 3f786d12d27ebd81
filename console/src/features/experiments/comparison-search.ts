import type { operations } from "../../api/trace.d.ts";

export const ORDERS = ["regressions", "improvements", "example"] as const;

export interface ComparisonSearch {
  /** Id of the baseline; empty: the dataset's, else the first experiment. */
  baseline: string;
  order: (typeof ORDERS)[number];
  /** The filter on differences as text: `worse score:correct`, with `@` and an experiment's id for one of them. */
  only: string;
}

export const COMPARISON_SEARCH: ComparisonSearch = { baseline: "", order: "regressions", only: "" };

type Operation = operations["post_api_v1_datasets_dataset_id_experiments_compare"];
type Request = NonNullable<Operation["requestBody"]>["content"]["application/json"];
type Filter = NonNullable<Request["filters"]>[number];
export type Change = Filter["change"];

const ONLY = /^(worse|better|same|different) (score|metric):(.+?)(?:@([0-9a-f-]{36}))?$/i;
const METRICS = ["latency_seconds", "total_tokens", "total_cost", "error_rate"] as const;

/** Reads a filter on differences; undefined for none, or for an address that was written by hand wrongly. */
export function readOnly(text: string): Filter | undefined {
  const [, change, kind, name, experiment] = ONLY.exec(text) ?? [];
  if (!change || !name) return undefined;
  const more = { change: change as Change, more_than: 0, ...(experiment && { experiment_id: experiment }) };
  if (kind === "score") return { ...more, key: name };
  const metric = METRICS.find((each) => each === name);
  return metric && { ...more, metric };
}

export const writeOnly = (change: Change, measure: string, experimentId: string): string =>
  `${change} ${measure}@${experimentId}`;
