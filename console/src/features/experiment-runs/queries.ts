import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";
import { evaluatorChoicesQuery } from "../rules/queries.ts";

export type Job =
  operations["get_api_v1_experiments_runs_experiment_run_id"]["responses"][200]["content"]["application/json"];
export type JobRow =
  operations["get_api_v1_experiments_runs_experiment_run_id_rows"]["responses"][200]["content"]["application/json"][number];
export type JobCreate = NonNullable<
  operations["post_api_v1_experiments_runs"]["requestBody"]
>["content"]["application/json"];
export type ListedJob =
  operations["get_api_v1_experiments_runs"]["responses"][200]["content"]["application/json"]["items"][number];

/** Interval of a running experiment's progress. */
const LIVE_MS = 1500;
const LIST_MS = 5000;

export const isOver = (status: string | undefined): boolean => status !== "pending" && status !== "running";

const path = (id: string) => ({ path: { experiment_run_id: id } });

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ["experiment-run", id],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/experiments/runs/{experiment_run_id}", { params: path(id), signal })),
    refetchInterval: ({ state }) => (isOver(state.data?.status) && state.data ? false : LIVE_MS),
  });

/** Query for the rows that failed, or that an evaluator failed to judge. */
export const failedRowsQuery = (id: string, status: "failed" | "unjudged", count: number) =>
  queryOptions({
    queryKey: ["experiment-run", id, status, count],
    queryFn: ({ signal }) => {
      const params = { ...path(id), query: { status, limit: "50" } };
      return data(traceApi.GET("/api/v1/experiments/runs/{experiment_run_id}/rows", { params, signal }));
    },
    enabled: count > 0,
    placeholderData: keepPreviousData,
  });

export const jobsQuery = queryOptions({
  queryKey: ["experiment-runs"],
  queryFn: ({ signal }) =>
    data(traceApi.GET("/api/v1/experiments/runs", { params: { query: { limit: "100" } }, signal })),
  refetchInterval: LIST_MS,
});

/** Query for the evaluators that an experiment can run. */
export const judgeChoicesQuery = queryOptions({
  ...evaluatorChoicesQuery,
  select: ({ evaluators }) =>
    evaluators
      .filter(({ subject }) => subject === "run" || subject === "trace")
      .map(({ id, name, version }) => ({ value: id, label: `${name} (version ${version})` })),
});

export const promptChoicesQuery = queryOptions({
  queryKey: ["prompts", "choices"],
  queryFn: ({ signal }) => {
    const query = { repo_type: "prompt", is_archived: "false", limit: "100" } as const;
    return data(traceApi.GET("/api/v1/repos", { params: { query }, signal }));
  },
  select: ({ repos }) => repos.map(({ repo_handle: name }) => name),
});

export const startExperiment = (body: JobCreate) => data(traceApi.POST("/api/v1/experiments/runs", { body }));

/** Changes an experiment: cancels it, resumes it, or executes its failed rows again. */
export function changeExperiment(id: string, action: "cancel" | "resume" | "retry"): Promise<unknown> {
  const params = path(id);
  if (action === "cancel") {
    return traceApi.POST("/api/v1/experiments/runs/{experiment_run_id}/cancel", { params });
  }
  if (action === "resume") {
    return traceApi.POST("/api/v1/experiments/runs/{experiment_run_id}/resume", { params });
  }
  return traceApi.POST("/api/v1/experiments/runs/{experiment_run_id}/retry", { params });
}
