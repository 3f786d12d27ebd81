import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { Fact } from "./filter-language.ts";
import { type RunQuery, runQueryBody } from "./queries.ts";
import { boundsAt, type RunSearch } from "./run-search.ts";

export interface Facet extends Fact {
  /** Filter that matches its runs. */
  query: string;
  /** Whether the filter matches any run of the trace. */
  isTree?: boolean;
}

type FeedbackStats = Record<string, { n?: number; values?: Record<string, number> }>;

/** Returns facets by feedback key, and by value for keys that have values. */
function feedbackFacets(stats: FeedbackStats): Facet[] {
  return Object.entries(stats).flatMap(([key, { n = 0, values = {} }]) => {
    const hasKey = `eq(feedback_key, ${JSON.stringify(key)})`;
    const byValue = Object.entries(values).map(([value, times]) => ({
      key: "feedback",
      value: `${key}: ${value}`,
      n: times,
      query: `and(${hasKey}, eq(feedback_value, ${JSON.stringify(value)}))`,
    }));
    return [{ key: "feedback", value: key, n, query: hasKey }, ...byValue];
  });
}

/** Metadata that SDKs and platforms add to each run. */
const FROM_SDK =
  /^metadata\.(LANGSMITH_|LANGCHAIN_|LANGGRAPH_|langgraph_|ls_|lc_|checkpoint_|__|heddle_|revision_id$|graph_id$|run_id$|run_attempt$|assistant_id$|thread_id$|user-agent$)/;

/** Sorts the metadata of the user's own code before that of SDKs; other facets keep their places. */
export const ownMetadataFirst = (facets: Facet[]): Facet[] => [
  ...facets.filter(({ key }) => !FROM_SDK.test(key)),
  ...facets.filter(({ key }) => FROM_SDK.test(key)),
];

/** Metadata key with which clients name the model of an LLM call. */
const MODEL = "ls_model_name";

/** Query for the facets of a project's runs, regardless of the filter. */
export const facetsQuery = (projectId: string, search: RunSearch) => {
  const unfiltered = { ...search, filter: "", trace_filter: "", tree_filter: "", text: "" };
  return queryOptions({
    queryKey: ["run-facets", projectId, { tab: search.tab, last: search.last, from: search.from, to: search.to }],
    queryFn: async ({ signal }): Promise<Facet[]> => {
      const body = { ...runQueryBody(projectId, unfiltered), ...boundsAt(search, Date.now()) };
      const read = async (selection: RunQuery) => {
        const select = ["run_facets" as const, "feedback_stats" as const];
        const stats = await data(traceApi.POST("/api/v1/runs/stats", { body: { ...selection, select }, signal }));
        return stats as { run_facets?: Facet[]; feedback_stats?: FeedbackStats };
      };
      // models are named by the LLM calls below a trace's root
      const isTraces = search.tab === "traces" || search.tab === "threads";
      const [own, calls] = await Promise.all([
        read(body),
        isTraces ? read({ ...body, is_root: undefined, run_type: "llm" }) : undefined,
      ]);
      const models = (calls?.run_facets ?? []).filter(({ key }) => key === MODEL);
      return ownMetadataFirst([
        ...models.map((facet) => ({ ...facet, key: "model", isTree: true })),
        ...(own.run_facets ?? []).map((facet) => {
          // the server's facet does not mark metadata keys as such, but its filter does
          if (!facet.query.startsWith("and(eq(metadata_key")) return facet;
          return { ...facet, key: facet.key === MODEL ? "model" : `metadata.${facet.key}` };
        }),
        ...feedbackFacets(own.feedback_stats ?? {}),
      ]);
    },
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
};

export type HistogramField = "latency" | "total_cost";

/** Query for the distribution of a metric over the runs in the time range, regardless of the filter. */
export const histogramQuery = (projectId: string, search: RunSearch, field: HistogramField) => {
  const { tab, last, from, to } = search;
  const unfiltered = { ...search, filter: "", trace_filter: "", tree_filter: "", text: "" };
  return queryOptions({
    queryKey: ["run-histogram", projectId, field, { tab, last, from, to }],
    queryFn: async ({ signal }) => {
      const body = { ...runQueryBody(projectId, unfiltered), ...boundsAt(search, Date.now()), field };
      return (await data(traceApi.POST("/api/v1/runs/stats/histogram", { body: body as never, signal }))).bins;
    },
    staleTime: 30_000,
  });
};
