import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import { PAGE_SIZE } from "../datasets/queries.ts";
import type { Feedback } from "../traces/queries.ts";

export const sharedDatasetQuery = (token: string) =>
  queryOptions({
    queryKey: ["shared-dataset", token],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/public/{share_token}/datasets", { params: { path: { share_token: token } }, signal })),
  });

export const sharedExamplesQuery = (token: string) =>
  infiniteQueryOptions({
    queryKey: ["shared-examples", token],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: String(PAGE_SIZE), offset: String(pageParam) };
      const params = { path: { share_token: token }, query };
      return data(traceApi.GET("/api/v1/public/{share_token}/examples", { params, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE_SIZE ? undefined : pages.length * PAGE_SIZE),
  });

export const sharedFeedbackQuery = (token: string, runId: string) =>
  queryOptions({
    queryKey: ["shared-feedback", token, runId],
    queryFn: async ({ signal }) => {
      const params = { path: { share_token: token }, query: { run: [runId] } };
      const found = await data(traceApi.GET("/api/v1/public/{share_token}/feedbacks", { params, signal }));
      // the author is hidden from public readers
      return found as unknown as Feedback[];
    },
  });
