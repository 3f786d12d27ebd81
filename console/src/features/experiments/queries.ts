import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";
import { type ComparisonSearch, readOnly } from "./comparison-search.ts";

type CompareOperation = operations["post_api_v1_datasets_dataset_id_experiments_compare"];
export type CompareRequest = NonNullable<CompareOperation["requestBody"]>["content"]["application/json"];
export type Comparison = CompareOperation["responses"][200]["content"]["application/json"];
export type ComparedExperiment = Comparison["experiments"][number];
export type ComparedRow = Comparison["rows"][number];
export type Summary = ComparedExperiment["scores"][string];
export type MetricName = "latency_seconds" | "total_tokens" | "total_cost" | "error_rate";
export type History =
  operations["get_api_v1_datasets_dataset_id_experiments_history"]["responses"][200]["content"]["application/json"];
export type PairsPage =
  operations["get_api_v1_datasets_comparative_comparative_experiment_id_pairs"]["responses"][200]["content"]["application/json"];
export type PairwiseResults =
  operations["get_api_v1_datasets_comparative_comparative_experiment_id_results"]["responses"][200]["content"]["application/json"];
export type Pair = PairsPage["items"][number];

const PAGE_SIZE = 100;
const ofDataset = (id: string) => ({ path: { dataset_id: id } });

/** Query for a comparison: the first page has the averages and intervals, the others only further examples. */
export const comparisonQuery = (datasetId: string, experiments: string[], search: ComparisonSearch) =>
  infiniteQueryOptions({
    queryKey: ["dataset", datasetId, "compared", experiments, search],
    queryFn: ({ pageParam, signal }) => {
      const only = readOnly(search.only);
      const body: CompareRequest = {
        experiments,
        ...(search.baseline !== "" && { baseline: search.baseline }),
        include: pageParam === "0" ? ["summary", "rows"] : ["rows"],
        sort: { by: search.order, descending: true },
        filters: only ? [only] : [],
        limit: PAGE_SIZE,
        cursor: pageParam,
      };
      const order = { params: ofDataset(datasetId), body, signal };
      return data(traceApi.POST("/api/v1/datasets/{dataset_id}/experiments/compare", order));
    },
    initialPageParam: "0",
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    enabled: experiments.length > 0,
    placeholderData: keepPreviousData,
  });

/** Query for an example with the whole outputs of its runs in the experiments. */
export const comparedExampleQuery = (datasetId: string, experiments: string[], exampleId: string) =>
  queryOptions({
    queryKey: ["dataset", datasetId, "compared-example", experiments, exampleId],
    async queryFn({ signal }) {
      const body = { session_ids: experiments, example_ids: [exampleId], limit: 1, preview: false };
      const order = { params: ofDataset(datasetId), body, signal };
      const [example] = await data(traceApi.POST("/api/v1/datasets/{dataset_id}/runs", order));
      return example ?? null;
    },
  });

export const historyQuery = (datasetId: string) =>
  queryOptions({
    queryKey: ["dataset", datasetId, "history"],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/datasets/{dataset_id}/experiments/history", {
          params: { ...ofDataset(datasetId), query: { limit: "100" } },
          signal,
        }),
      ),
    refetchInterval: 30_000,
  });

/** Query for how the columns of a dataset's comparisons are shown; null: as usual. */
export const viewQuery = (datasetId: string) =>
  queryOptions({
    queryKey: ["dataset", datasetId, "view"],
    async queryFn({ signal }) {
      const order = { params: ofDataset(datasetId), signal };
      const [view] = await data(traceApi.GET("/api/v1/datasets/{dataset_id}/experiment-view-overrides", order));
      return view ?? null;
    },
  });

export type View = NonNullable<
  operations["get_api_v1_datasets_dataset_id_experiment_view_overrides"]["responses"][200]["content"]["application/json"][number]
>;

/** Saves which columns are hidden and which have no colours, and keeps the rest of the view. */
export async function saveView(datasetId: string, view: View | null, columns: View["column_overrides"]): Promise<void> {
  const params = { path: { dataset_id: datasetId, override_id: view?.id ?? "" } };
  const body = { column_overrides: columns };
  if (view === null) {
    if (columns.length === 0) return;
    const order = { params: ofDataset(datasetId), body };
    await traceApi.POST("/api/v1/datasets/{dataset_id}/experiment-view-overrides", order);
  } else if (columns.length === 0) {
    await traceApi.DELETE("/api/v1/datasets/{dataset_id}/experiment-view-overrides/{override_id}", { params });
  } else {
    await traceApi.PATCH("/api/v1/datasets/{dataset_id}/experiment-view-overrides/{override_id}", { params, body });
  }
}

const ofComparison = (id: string) => ({ path: { comparative_experiment_id: id } });

/** Query for the caller's next pairs; `turn` counts those that were judged, so that the list is read anew. */
export const pairsQuery = (comparisonId: string, turn: number) =>
  queryOptions({
    queryKey: ["pairs", comparisonId, turn],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/datasets/comparative/{comparative_experiment_id}/pairs", {
          params: { ...ofComparison(comparisonId), query: { limit: "10" } },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  });

export const pairResultsQuery = (comparisonId: string) =>
  queryOptions({
    queryKey: ["pair-results", comparisonId],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/datasets/comparative/{comparative_experiment_id}/results", {
          params: ofComparison(comparisonId),
          signal,
        }),
      ),
    refetchInterval: 10_000,
  });

export const judgePair = (comparisonId: string, exampleId: string, preferred: string | null) =>
  traceApi.PUT("/api/v1/datasets/comparative/{comparative_experiment_id}/pairs/{example_id}", {
    params: { path: { comparative_experiment_id: comparisonId, example_id: exampleId } },
    body: { preferred },
  });

export const undoPair = (comparisonId: string, exampleId: string) =>
  traceApi.DELETE("/api/v1/datasets/comparative/{comparative_experiment_id}/pairs/{example_id}", {
    params: { path: { comparative_experiment_id: comparisonId, example_id: exampleId } },
  });

/** Query for the evaluators of pairs. */
export const pairEvaluatorsQuery = queryOptions({
  queryKey: ["evaluators", "pairs"],
  async queryFn({ signal }) {
    const params = { query: { limit: "100", sort_by: "name" as const, sort_by_desc: "false" as const } };
    const { evaluators } = await data(traceApi.GET("/v1/platform/evaluators", { params, signal }));
    return evaluators.filter(({ subject }) => subject === "pair");
  },
});

/** Query for the evaluators that judge a comparison's pairs, newest first. */
export const pairJudgesQuery = (comparisonId: string) =>
  queryOptions({
    queryKey: ["pair-judges", comparisonId],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/datasets/comparative/{comparative_experiment_id}/judges", {
          params: ofComparison(comparisonId),
          signal,
        }),
      ),
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "queued" || status === "running") ? 2000 : false,
  });
