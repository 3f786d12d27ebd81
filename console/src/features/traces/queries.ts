import { queryOptions } from "@tanstack/react-query";

import { ApiError } from "../../api/api-error.ts";
import { agentApi, data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";
import { type AnyRun, parseTime } from "../runs/run-record.ts";
import type { TraceTree, TreeRun } from "./trace-tree.ts";

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
  "FIRST_TOKEN_TIME",
  "DOTTED_ORDER",
  "TOTAL_TOKENS",
  "TOTAL_COST",
  "ERROR_PREVIEW",
] as const;

function asTreeRun(run: V2Run): TreeRun {
  const { id, name, run_type, status, start_time, end_time, dotted_order, total_tokens, error_preview } = run;
  const { first_token_time, total_cost } = run;
  const above = typeof dotted_order === "string" ? dotted_order.split(".").at(-2) : undefined;
  const error = typeof error_preview === "string" ? error_preview : null;
  return {
    id: id!,
    name: name ?? "",
    run_type: (run_type ?? "CHAIN").toLowerCase(),
    status: (status ?? "PENDING").toLowerCase(),
    start: parseTime(start_time!),
    end: end_time == null ? null : parseTime(end_time),
    firstToken: typeof first_token_time === "string" ? parseTime(first_token_time) : null,
    tokens: total_tokens ?? null,
    cost: total_cost == null ? null : Number(total_cost),
    error,
    // the path consists of times and UUIDs
    parentId: above === undefined ? null : above.slice(-36),
  };
}

/** Yields one run at a time, because they are placed in slices. */
function* asTreeRuns(items: readonly V2Run[]): Generator<TreeRun> {
  for (const item of items) yield asTreeRun(item);
}

/** Builds the tree. Its code is not part of the first page, and is loaded while the runs are. */
async function treeOf(found: Promise<{ items: TraceRuns }>, signal: AbortSignal): Promise<TraceTree> {
  const [{ items }, { treeInSlices }] = await Promise.all([found, import("./trace-tree.ts")]);
  return await treeInSlices(asTreeRuns(items), signal);
}

export const traceQuery = (projectId: string, traceId: string) =>
  queryOptions({
    queryKey: ["trace", projectId, traceId],
    queryFn: async ({ signal }): Promise<TraceTree> => {
      const found = data(
        traceApi.GET("/api/v2/traces/{trace_id}/runs", {
          params: { path: { trace_id: traceId }, query: { project_id: projectId, selects: [...TREE] } },
          signal,
        }),
      );
      return await treeOf(found, signal);
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
      const found = data(
        traceApi.POST("/api/v2/public/{share_token}/runs/query", {
          params: { path: { share_token: token } },
          body: { selects: [...TREE] },
          signal,
        }),
      );
      return await treeOf(found, signal);
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

export interface RunPlace {
  traceId: string;
  runId: string;
}

/**
 * Query for the trace that a run belongs to; set in advance when the user comes from the trace itself. The id may be
 * that of the trace, which need not be that of a run.
 */
export const runPlaceQuery = (projectId: string, runId: string) =>
  queryOptions({
    queryKey: ["run-place", projectId, runId],
    queryFn: async ({ client }): Promise<RunPlace> => {
      try {
        return { traceId: (await client.fetchQuery(runQuery(runId))).trace_id, runId };
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
        const body = { project_id: projectId, trace_ids: [runId], selects: ["ID" as const] };
        const { items } = await data(traceApi.POST("/api/v2/traces/query", { body }));
        if (items.length === 0) throw error;
        return { traceId: runId, runId: items[0]!.root_run.id! };
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

export interface Origin {
  threadId: string;
  /** Id of the agent server's run, which is also the id of its trace. */
  runId: string | null;
  step: number | null;
}

interface State {
  checkpoint?: { checkpoint_id?: string | null } | null;
  metadata?: { step?: number; run_id?: string } | null;
}

/** Query for the first of the servers that has the run's thread, and for the state that the run's step produced. */
export const runOriginQuery = (origin: Origin | null, servers: string[]) =>
  queryOptions({
    queryKey: ["run-origin", origin, servers],
    queryFn: async () => {
      const { threadId, runId, step } = origin!;
      const params = { path: { thread_id: threadId } };
      for (const server of servers) {
        const thread = await data(agentApi(server).GET("/threads/{thread_id}", { params })).catch(() => null);
        if (!thread) continue;
        const body = { limit: 100, ...(runId !== null && { metadata: { run_id: runId } }) };
        const history = await data(agentApi(server).POST("/threads/{thread_id}/history", { params, body })).catch(
          () => [],
        );
        const states = history as unknown as State[];
        // newest first: without a step, the run's final state
        const state = step === null ? states[0] : states.find(({ metadata }) => metadata?.step === step);
        return { server, threadId, checkpoint: state?.checkpoint?.checkpoint_id ?? null };
      }
      return null;
    },
    enabled: origin !== null && servers.length > 0,
    staleTime: 60_000,
  });

export type Feedback = operations["get_api_v1_feedback"]["responses"][200]["content"]["application/json"][number];

export const feedbackQuery = (runId: string) =>
  queryOptions({
    queryKey: ["feedback", runId],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/feedback", { params: { query: { run: [runId], limit: "100" } }, signal })),
    refetchInterval: 10_000,
  });

/** Query for the datasets that a run can be added to. */
export const datasetChoicesQuery = queryOptions({
  queryKey: ["datasets", "all"],
  queryFn: ({ signal }) =>
    data(traceApi.GET("/api/v1/datasets", { params: { query: { limit: "100", sort_by: "modified_at" } }, signal })),
});

/** Query for the token of the trace's public link; null while it is not shared. */
export const traceShareQuery = (runId: string) =>
  queryOptions<string | null>({
    queryKey: ["share", runId],
    queryFn: async () => {
      const params = { path: { run_id: runId } };
      // null or no data means "not shared"
      return (await traceApi.GET("/api/v1/runs/{run_id}/share", { params })).data?.share_token ?? null;
    },
  });

const TURN = [
  "id",
  "name",
  "status",
  "error",
  "start_time",
  "end_time",
  "inputs",
  "outputs",
  "total_tokens",
  "total_cost",
] as const;
/** Limit on the turns of a replayed thread. */
const MAX_TURNS = 100;

/** Query for a thread's traces with their inputs and outputs, oldest first. */
export const turnsQuery = (projectId: string, thread: string) =>
  queryOptions({
    queryKey: ["turns", projectId, thread],
    queryFn: async ({ signal }) => {
      const filter = `eq(thread_id, ${JSON.stringify(thread)})`;
      const body = {
        session: projectId,
        is_root: true,
        include_provisional_roots: true,
        filter,
        order: "asc" as const,
        limit: MAX_TURNS,
        select: [...TURN],
      };
      return (await data(traceApi.POST("/api/v1/runs/query", { body, signal }))).runs;
    },
    refetchInterval: 10_000,
  });

export type Turn = AnyRun;
