import { queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";
import { type AnyRun, parseTime } from "../runs/run-record.ts";
import { type TraceTree, treeInSlices, type TreeRun } from "./trace-tree.ts";

type TraceRuns =
  operations["get_api_v2_traces_trace_id_runs"]["responses"][200]["content"]["application/json"]["items"];
export type V2Run = TraceRuns[number];

/** Polling interval for active runs. */
const RUNNING_MS = 2000;

/** Fields that the tree shows; the others are requested when a run is opened. */
const TREE = [
  "ID",
  "NAME",
  "RUN_TYPE",
  "STATUS",
  "START_TIME",
  "END_TIME",
  "DOTTED_ORDER",
  "TOTAL_TOKENS",
  "ERROR_PREVIEW",
] as const;

export function asTreeRun(run: V2Run): TreeRun {
  const { id, name, run_type, status, start_time, end_time, dotted_order, total_tokens, error_preview } = run;
  const above = typeof dotted_order === "string" ? dotted_order.split(".").at(-2) : undefined;
  return {
    id: id!,
    name: name ?? "",
    run_type: (run_type ?? "CHAIN").toLowerCase(),
    status: (status ?? "PENDING").toLowerCase(),
    start: parseTime(start_time!),
    end: end_time == null ? null : parseTime(end_time),
    tokens: total_tokens ?? null,
    error: typeof error_preview === "string" ? error_preview : null,
    // the path consists of times and UUIDs
    parentId: above === undefined ? null : above.slice(-36),
  };
}

/** Yields one run at a time, because they are placed in slices. */
function* asTreeRuns(items: readonly V2Run[]): Generator<TreeRun> {
  for (const item of items) yield asTreeRun(item);
}

export const traceQuery = (projectId: string, traceId: string) =>
  queryOptions({
    queryKey: ["trace", projectId, traceId],
    queryFn: async ({ signal }): Promise<TraceTree> => {
      const { items } = await data(
        traceApi.GET("/api/v2/traces/{trace_id}/runs", {
          params: { path: { trace_id: traceId }, query: { project_id: projectId, selects: [...TREE] } },
          signal,
        }),
      );
      return await treeInSlices(asTreeRuns(items), signal);
    },
    // comparing two trees would cost more than rendering one
    structuralSharing: false,
    staleTime: 15_000,
    refetchInterval: ({ state }) => (state.data?.isRunning ? RUNNING_MS : false),
  });

export const sharedTraceQuery = (token: string) =>
  queryOptions({
    queryKey: ["shared-trace", token],
    queryFn: async ({ signal }): Promise<TraceTree> => {
      const { items } = await data(
        traceApi.POST("/api/v2/public/{share_token}/runs/query", {
          params: { path: { share_token: token } },
          body: { selects: [...TREE] },
          signal,
        }),
      );
      return await treeInSlices(asTreeRuns(items), signal);
    },
    structuralSharing: false,
    refetchInterval: ({ state }) => (state.data?.isRunning ? RUNNING_MS : false),
  });

const isRunning = (run: AnyRun | undefined): number | false => (run?.status === "pending" ? RUNNING_MS : false);

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: runId } }, signal })),
    refetchInterval: ({ state }) => isRunning(state.data),
  });

export const sharedRunQuery = (token: string, runId: string) =>
  queryOptions({
    queryKey: ["shared-run", token, runId],
    queryFn: ({ signal }): Promise<AnyRun> =>
      data(
        traceApi.GET("/api/v1/public/{share_token}/run/{run_id}", {
          params: { path: { share_token: token, run_id: runId } },
          signal,
        }),
      ),
    refetchInterval: ({ state }) => isRunning(state.data),
  });

/** Cache key of the trace that a run belongs to; set in advance when the user comes from the trace itself. */
export const runPlaceKey = (runId: string) => ["run-place", runId] as const;
