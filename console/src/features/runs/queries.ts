import { type InfiniteData, infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";
import { conjoin } from "./conjoin.ts";
import { mergeNewest, type RunPage } from "./merge-newest.ts";
import { boundsAt, RUN_SEARCH, type RunSearch } from "./run-search.ts";

export type RunQuery = NonNullable<operations["post_api_v1_runs_query"]["requestBody"]>["content"]["application/json"];
type Selected = NonNullable<RunQuery["select"]>[number];

/** Fields that a row of the table shows. */
const SELECTED: Selected[] = [
  "id",
  "name",
  "run_type",
  "status",
  "start_time",
  "end_time",
  "error",
  "inputs_preview",
  "outputs_preview",
  "first_token_time",
  "total_tokens",
  "prompt_tokens",
  "completion_tokens",
  "total_cost",
  "tags",
  "extra",
  "feedback_stats",
  "trace_id",
  "parent_run_id",
  "is_provisional_root",
  "thread_id",
  "reference_example_id",
  "in_dataset",
];
const PAGE_SIZE = 50;
export const LIVE_MS = 3000;

/** The search without what does not change a list's rows. */
const listOf = (search: RunSearch) => ({ ...search, live: undefined, view: undefined, columns: undefined });

/** Returns the part of a query that does not depend on the current time. */
export function runQueryBody(projectId: string, search: RunSearch): RunQuery {
  const { tab, filter, trace_filter, tree_filter, text } = search;
  return {
    session: projectId,
    ...(tab === "traces" && { is_root: true, include_provisional_roots: true }),
    ...(tab === "llm" && { run_type: "llm" as const }),
    ...(filter.trim() !== "" && { filter }),
    ...(trace_filter.trim() !== "" && { trace_filter }),
    ...(tree_filter.trim() !== "" && { tree_filter }),
    ...(text.trim() !== "" && { query: text }),
  };
}

/** Returns the selection of a list, with the bounds of its time range now. */
export const selectionOf = (projectId: string, search: RunSearch): RunQuery => ({
  ...runQueryBody(projectId, search),
  ...boundsAt(search, Date.now()),
});

export const runsQuery = (projectId: string, search: RunSearch) =>
  infiniteQueryOptions({
    queryKey: ["runs", projectId, listOf(search)],
    queryFn: ({ pageParam, signal }) => {
      // later pages keep the bounds of the first through their cursor's start time
      const body: RunQuery = {
        ...runQueryBody(projectId, search),
        ...boundsAt(search, Date.now()),
        order: search.desc ? "desc" : "asc",
        order_by: search.sort,
        select: SELECTED,
        limit: PAGE_SIZE,
        ...(pageParam !== null && { cursor: pageParam }),
      };
      return data(traceApi.POST("/api/v1/runs/query", { body, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursors }) => cursors.next,
    placeholderData: keepPreviousData,
  });

/** Query that polls the newest runs and merges them into the cached pages; its data is their number. */
export const liveRunsQuery = (projectId: string, search: RunSearch) => {
  const { queryKey } = runsQuery(projectId, search);
  return queryOptions({
    queryKey: ["runs-live", ...queryKey.slice(1)],
    queryFn: async ({ signal, client }) => {
      const body = {
        ...runQueryBody(projectId, search),
        ...boundsAt(search, Date.now()),
        select: SELECTED,
        limit: 50,
      };
      const newest = await data(traceApi.POST("/api/v1/runs/query", { body, signal }));
      const known = client.getQueryData<InfiniteData<Pick<RunPage, "runs" | "cursors">, string | null>>(queryKey);
      const merged = known && mergeNewest(known, newest);
      // so many arrived at once that some in between are missing
      if (merged === null) await client.resetQueries({ queryKey });
      else if (merged !== known) client.setQueryData(queryKey, merged);
      return newest.runs.length;
    },
    refetchInterval: LIVE_MS,
    staleTime: LIVE_MS,
  });
};

/** Query for statistics over the selected runs. */
export const runStatsQuery = (projectId: string, search: RunSearch) =>
  queryOptions({
    queryKey: ["run-stats", projectId, { ...listOf(search), sort: undefined, desc: undefined }],
    queryFn: ({ signal }) =>
      data(
        traceApi.POST("/api/v1/runs/stats", {
          body: {
            ...runQueryBody(projectId, search),
            ...boundsAt(search, Date.now()),
            select: ["run_count", "error_rate", "latency_p50", "latency_p99", "total_tokens", "total_cost"],
          },
          signal,
        }),
      ) as Promise<Statistics>,
    placeholderData: keepPreviousData,
  });

export interface Statistics {
  run_count?: number | null;
  error_rate?: number | null;
  latency_p50?: number | null;
  latency_p99?: number | null;
  total_tokens?: number | null;
  total_cost?: number | null;
}

/** Validates an expression; null when it is valid. */
export async function validateFilter(filter: string): Promise<string | null> {
  if (filter.trim() === "") return null;
  const { errors } = await data(traceApi.POST("/api/v1/runs/query/validate", { body: { filter } }));
  return errors[0]?.message ?? null;
}

/** Query for the error of an expression. */
export const filterCheckQuery = (filter: string) =>
  queryOptions({
    queryKey: ["filter-check", filter],
    queryFn: () => validateFilter(filter),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

/** Threads have no name and no first token to sort by. */
export const threadSort = (sort: RunSearch["sort"]): RunSearch["sort"] =>
  sort === "name" || sort === "first_token" ? RUN_SEARCH.sort : sort;

export const threadsQuery = (projectId: string, search: RunSearch) =>
  infiniteQueryOptions({
    queryKey: ["run-threads", projectId, listOf(search)],
    queryFn: ({ pageParam, signal }) => {
      const { start_time, end_time } = boundsAt(search, Date.now());
      const filter = conjoin(search.filter, search.text.trim() === "" ? "" : `search(${JSON.stringify(search.text)})`);
      return data(
        traceApi.POST("/api/v1/runs/group", {
          body: {
            session_id: projectId,
            group_by: "conversation",
            order_by: threadSort(search.sort),
            order: search.desc ? "desc" : "asc",
            limit: PAGE_SIZE,
            offset: pageParam,
            start_time,
            ...(end_time !== undefined && { end_time }),
            ...(filter !== "" && { filter }),
          },
          signal,
        }),
      );
    },
    initialPageParam: 0,
    getNextPageParam: (page, pages) =>
      page.groups.length < PAGE_SIZE ? undefined : pages.reduce((sum, { groups }) => sum + groups.length, 0),
    placeholderData: keepPreviousData,
  });

export type Thread =
  operations["post_api_v1_runs_group"]["responses"][200]["content"]["application/json"]["groups"][number];
