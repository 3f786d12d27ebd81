/** Statistics for the home page; those of traces cover the last 24 hours. */
import { queryOptions } from "@tanstack/react-query";

import { agentApi, controlApi, data, traceApi } from "../../api/clients.ts";

const HOURS = 24;
const HOUR_MS = 3_600_000;
const PROJECTS = 6;
/** Failures that are read, and grouped by their errors. */
export const FAILURES = 100;
const DEPLOYMENTS = 6;

export interface Hour {
  /** Traces that started in this hour. */
  traces: number;
  failed: number;
}

const since = (now: number): string => new Date(now - HOURS * HOUR_MS).toISOString();

/** Project in which the official clients trace the evaluators of experiments. */
const EVALUATORS = "evaluators";

/** Query for the projects with the newest traces of agents: neither experiments nor their evaluators. */
export const recentProjectsQuery = queryOptions({
  queryKey: ["projects", "newest"],
  async queryFn({ signal }) {
    const order = { sort_by: "last_run_start_time", sort_by_desc: "true" } as const;
    const query = { ...order, limit: String(PROJECTS + 1), reference_free: "true" } as const;
    const projects = await data(traceApi.GET("/api/v1/sessions", { params: { query }, signal }));
    return projects.filter(({ name }) => name !== EVALUATORS).slice(0, PROJECTS);
  },
  refetchInterval: 10_000,
});

/** Query for statistics by hour, oldest first. */
export const hoursQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["projects", "hours", projectId],
    async queryFn({ signal }): Promise<Hour[]> {
      const now = Date.now();
      const body = {
        session: projectId,
        is_root: true,
        include_provisional_roots: true,
        start_time: since(now),
        bucket_seconds: HOUR_MS / 1000,
        select: ["run_count" as const, "error_rate" as const],
      };
      const { series } = await data(traceApi.POST("/api/v1/runs/stats/timeline", { body, signal }));
      const points = new Map(series[0]?.points.map((point) => [Date.parse(point.start), point]));
      const last = Math.floor(now / HOUR_MS) * HOUR_MS;
      return Array.from({ length: HOURS }, (_, index) => {
        const point = points.get(last - (HOURS - 1 - index) * HOUR_MS);
        const traces = point?.run_count ?? 0;
        return { traces, failed: Math.round(traces * (point?.error_rate ?? 0)) };
      });
    },
    refetchInterval: 10_000,
  });

/** Query for the newest failed traces of these projects. */
export const failuresQuery = (projectIds: string[]) =>
  queryOptions({
    queryKey: ["projects", "failures", projectIds],
    async queryFn({ signal }) {
      const select = ["id", "name", "error", "start_time", "session_id", "extra"] as const;
      const body = {
        session: projectIds,
        is_root: true,
        include_provisional_roots: true,
        error: true,
        start_time: since(Date.now()),
        limit: FAILURES,
        select: [...select],
      };
      return (await data(traceApi.POST("/api/v1/runs/query", { body, signal }))).runs;
    },
    refetchInterval: 10_000,
  });

/** Query for a server's numbers of active and pending runs. */
export const queueStatisticsQuery = (server: string) =>
  queryOptions({
    queryKey: ["queue", server, "statistics"],
    queryFn: ({ signal }) => data(agentApi(server).GET("/queue", { params: { query: { limit: "1" } }, signal })),
    refetchInterval: 5_000,
  });

/** Query for the newest deployments. */
export const newestDeploymentsQuery = queryOptions({
  queryKey: ["control", "deployments", "newest"],
  queryFn: async ({ signal }) => {
    const params = { query: { limit: String(DEPLOYMENTS) } };
    return (await data(controlApi.GET("/v2/deployments", { params, signal }))).resources;
  },
  refetchInterval: 10_000,
});
