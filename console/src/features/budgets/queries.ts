import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

export type Budget = operations["get_v1_platform_budgets"]["responses"][200]["content"]["application/json"][number];
export type BudgetBody = NonNullable<
  operations["post_v1_platform_budgets"]["requestBody"]
>["content"]["application/json"];
export type UserSpend =
  operations["get_v1_platform_budgets_budget_id_spend"]["responses"][200]["content"]["application/json"]["users"][number];

const REFRESH_MS = 30_000;

/** Query for the workspace's budgets with their spend of a month; without one, of the current month. */
export const budgetsQuery = (month: string | undefined) =>
  queryOptions({
    queryKey: ["budgets", { month }],
    queryFn: ({ signal }) => data(traceApi.GET("/v1/platform/budgets", { params: { query: { month } }, signal })),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });

export const budgetQuery = (id: string, month: string | undefined) =>
  queryOptions({
    queryKey: ["budgets", id, { month }],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/v1/platform/budgets/{budget_id}", {
          params: { path: { budget_id: id }, query: { month } },
          signal,
        }),
      ),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });

/** Users of a page. */
export const PAGE = 50;

export const spendQuery = (id: string, month: string | undefined, search: string, limit: number) =>
  queryOptions({
    queryKey: ["budgets", id, "spend", { month, search, limit }],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/v1/platform/budgets/{budget_id}/spend", {
          params: {
            path: { budget_id: id },
            query: { month, search: search === "" ? undefined : search, limit: String(limit) },
          },
          signal,
        }),
      ),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
