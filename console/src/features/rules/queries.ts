import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

type Answer<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;

export type Rule = Answer<"get_api_v1_runs_rules">[number];
export type RuleLogEntry = Answer<"get_api_v1_runs_rules_rule_id_logs_v2">["logs"][number];
export type RuleStatistics = Answer<"get_api_v1_runs_rules_statistics">[number];
export type RulePreview = Answer<"post_api_v1_runs_rules_preview">;
export type PreviewRequest = NonNullable<
  operations["post_api_v1_runs_rules_preview"]["requestBody"]
>["content"]["application/json"];

const REFRESH_MS = 10_000;
const PAGE_SIZE = 50;
const path = (ruleId: string) => ({ path: { rule_id: ruleId } });

/** Query for the rules of a project, or of the workspace. */
export const rulesQuery = (projectId?: string) =>
  queryOptions({
    queryKey: ["rules", { projectId }],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/runs/rules", {
          params: { query: projectId === undefined ? {} : { session_id: projectId } },
          signal,
        }),
      ),
    refetchInterval: REFRESH_MS,
  });

export const ruleQuery = (ruleId: string) =>
  queryOptions({
    queryKey: ["rules", "one", ruleId],
    queryFn: async ({ signal }) => {
      const query = { id: [ruleId], include_backfill_progress: "true" };
      const [rule] = await data(traceApi.GET("/api/v1/runs/rules", { params: { query }, signal }));
      return rule ?? null;
    },
    refetchInterval: ({ state }) =>
      state.data?.backfill_status === "pending" || state.data?.backfill_status === "running" ? 2000 : REFRESH_MS,
  });

/** Query for the counts of the last 24 hours, by rule. */
export const ruleStatisticsQuery = queryOptions({
  queryKey: ["rules", "statistics"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/runs/rules/statistics", { signal })),
  select: (list) => new Map(list.map((row) => [row.rule_id, row])),
  refetchInterval: REFRESH_MS,
});

export type LogStatus = RuleLogEntry["status"];

export const ruleLogQuery = (ruleId: string, status: LogStatus | null) =>
  infiniteQueryOptions({
    queryKey: ["rules", "log", ruleId, status],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: String(PAGE_SIZE),
        backfill: "any" as const,
        ...(status !== null && { status: [status] }),
        ...(pageParam !== "" && { cursor: pageParam }),
      };
      return data(traceApi.GET("/api/v1/runs/rules/{rule_id}/logs/v2", { params: { ...path(ruleId), query }, signal }));
    },
    initialPageParam: "",
    getNextPageParam: (page) => page.cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data && state.data.pages.length > 1 ? false : REFRESH_MS),
  });

export const rulePreviewQuery = (body: PreviewRequest | null) =>
  queryOptions({
    queryKey: ["rules", "preview", body],
    queryFn: ({ signal }) => data(traceApi.POST("/api/v1/runs/rules/preview", { body: body!, signal })),
    enabled: body !== null,
    retry: false,
    staleTime: 30_000,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  });

/** Query for the evaluators. */
export const evaluatorChoicesQuery = queryOptions({
  queryKey: ["evaluators", "choices"],
  queryFn: ({ signal }) =>
    data(traceApi.GET("/v1/platform/evaluators", { params: { query: { sort_by: "name", limit: "100" } }, signal })),
  retry: false,
});

/** Query for the projects that a rule can watch. */
export const projectChoicesQuery = queryOptions({
  queryKey: ["projects", "choices"],
  queryFn: ({ signal }) =>
    data(
      traceApi.GET("/api/v1/sessions", {
        params: { query: { limit: "100", sort_by: "last_run_start_time", reference_free: "true" } },
        signal,
      }),
    ),
  staleTime: 60_000,
});
