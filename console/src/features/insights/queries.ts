import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

type Operation = operations["post_api_v1_sessions_session_id_insights_estimate"];
export type Settings = NonNullable<Operation["requestBody"]>["content"]["application/json"];
export type Estimate = Operation["responses"][200]["content"]["application/json"];
type Jobs = operations["get_api_v1_sessions_session_id_insights"]["responses"][200]["content"]["application/json"];
export type Job = Jobs["clustering_jobs"][number];
export type JobWithClusters =
  operations["get_api_v1_sessions_session_id_insights_job_id"]["responses"][200]["content"]["application/json"];

export interface ClusterStats {
  share?: number;
  estimated_runs?: number;
  error_rate?: number | null;
  latency_p50?: number | null;
  mean_cost?: number | null;
  feedback?: Record<string, { n: number; avg: number }>;
  previous?: { name: string; share: number | null } | null;
  compared?: boolean;
}
export type Cluster = Omit<JobWithClusters["clusters"][number], "stats"> & { stats: ClusterStats };

/** Run of a cluster, with the fields that the list shows. */
export interface ClusterRun {
  id: string;
  name: string;
  status: string;
  start_time: string;
  inputs_preview: string | null;
  error: string | null;
  summary: string | null;
}

const LIVE_MS = 2000;
export const isOpen = ({ status }: Pick<Job, "status">): boolean => status === "queued" || status === "running";

const at = (projectId: string) => ({ path: { session_id: projectId } });
const jobAt = (projectId: string, jobId: string) => ({ path: { session_id: projectId, job_id: jobId } });

export const jobsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["insights", projectId],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/sessions/{session_id}/insights", { params: at(projectId), signal })),
    select: ({ clustering_jobs: jobs }) => jobs,
    refetchInterval: ({ state }) => (state.data?.clustering_jobs.some(isOpen) ? LIVE_MS : false),
  });

export const jobQuery = (projectId: string, jobId: string | undefined) =>
  queryOptions({
    queryKey: ["insights", projectId, jobId],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/sessions/{session_id}/insights/{job_id}", { params: jobAt(projectId, jobId!), signal }),
      ),
    enabled: jobId !== undefined,
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? LIVE_MS : false),
  });

/** Query for the numbers and costs of a job; its error says what is missing, such as a connection. */
export const estimateQuery = (projectId: string, settings: Settings) =>
  queryOptions({
    queryKey: ["insights", projectId, "estimate", settings],
    queryFn: ({ signal }) =>
      data(
        traceApi.POST("/api/v1/sessions/{session_id}/insights/estimate", {
          params: at(projectId),
          body: settings,
          signal,
        }),
      ),
    retry: false,
    staleTime: 30_000,
  });

const PAGE = 20;

export const clusterRunsQuery = (projectId: string, jobId: string, clusterId: string) =>
  infiniteQueryOptions({
    queryKey: ["insights", projectId, jobId, "runs", clusterId],
    queryFn: async ({ pageParam, signal }) => {
      const query = { cluster_id: clusterId, limit: String(PAGE), offset: String(pageParam) };
      const params = { ...jobAt(projectId, jobId), query };
      const page = await data(traceApi.GET("/api/v1/sessions/{session_id}/insights/{job_id}/runs", { params, signal }));
      return { runs: page.runs as unknown as ClusterRun[], offset: page.offset };
    },
    initialPageParam: 0,
    getNextPageParam: ({ offset }) => offset ?? undefined,
  });

/** Returns the ids of all runs of a cluster. */
export async function readRunIds(projectId: string, jobId: string, clusterId: string): Promise<string[]> {
  const ids: string[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const query = { cluster_id: clusterId, limit: "100", offset: String(offset) };
    const params = { ...jobAt(projectId, jobId), query };
    const page: { runs: object[]; offset: number | null } = await data(
      traceApi.GET("/api/v1/sessions/{session_id}/insights/{job_id}/runs", { params }),
    );
    ids.push(...page.runs.map((run) => (run as ClusterRun).id));
    offset = page.offset;
  }
  return ids;
}

export const startJob = (projectId: string, body: Settings) =>
  data(traceApi.POST("/api/v1/sessions/{session_id}/insights", { params: at(projectId), body }));

export const cancelJob = (projectId: string, jobId: string) =>
  data(traceApi.POST("/api/v1/sessions/{session_id}/insights/{job_id}/cancel", { params: jobAt(projectId, jobId) }));

export const resumeJob = (projectId: string, jobId: string, budget: string | undefined) =>
  data(
    traceApi.POST("/api/v1/sessions/{session_id}/insights/{job_id}/resume", {
      params: jobAt(projectId, jobId),
      body: budget === undefined ? {} : { budget_usd: budget },
    }),
  );

export const deleteJob = (projectId: string, jobId: string) =>
  data(traceApi.DELETE("/api/v1/sessions/{session_id}/insights/{job_id}", { params: jobAt(projectId, jobId) }));
