import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";

export const runToPlayQuery = (runId: string) =>
  queryOptions({
    queryKey: ["playground", "run", runId],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/playground/from-run/{run_id}", { params: { path: { run_id: runId } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Query for the prompts that a commit can be saved to. */
export const promptChoicesQuery = (text: string) =>
  queryOptions({
    queryKey: ["prompts", "choices", text],
    queryFn: async ({ signal }) => {
      const query = { limit: "50", repo_type: "prompt" as const, ...(text !== "" && { query: text }) };
      return (await data(traceApi.GET("/api/v1/repos", { params: { query }, signal }))).repos;
    },
    placeholderData: keepPreviousData,
  });
