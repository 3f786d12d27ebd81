import type { Run } from "@langchain/langgraph-sdk";
import { queryOptions } from "@tanstack/react-query";

import { ApiError } from "../../api/api-error.ts";
import { agentApi, controlApi, data, traceApi } from "../../api/clients.ts";
import type { State } from "../threads/queries.ts";
import { isActive } from "./run-events.ts";

export type { Run };

/** Polling intervals of an active run, and of an ended run, whose feedback and logs may still arrive. */
const LIVE_MS = 1_500;
const LATER_MS = 6_000;
const CHECKPOINT_LIMIT = 200;
const LOG_LIMIT = 200;
/** Log lines of a run may be written shortly after its end. */
const LOG_SLACK_MS = 2_000;

export const threadRunQuery = (server: string, threadId: string, runId: string) =>
  queryOptions({
    queryKey: ["agent", server, "thread", threadId, "run", runId],
    async queryFn({ signal }) {
      const params = { path: { thread_id: threadId, run_id: runId } };
      return (await data(
        agentApi(server).GET("/threads/{thread_id}/runs/{run_id}", { params, signal }),
      )) as unknown as Run;
    },
    refetchInterval: ({ state }) => (state.data && isActive(state.data.status) ? LIVE_MS : LATER_MS),
  });

export interface RunCheckpoint {
  id: string;
  at: string;
  step: number | null;
  source: string;
  next: string[];
}

/** Query for the checkpoints that a run wrote, newest first. */
export const runCheckpointsQuery = (server: string, threadId: string, runId: string, version: string) =>
  queryOptions({
    queryKey: ["agent", server, "thread", threadId, "run", runId, "checkpoints", version],
    async queryFn({ signal }): Promise<RunCheckpoint[]> {
      const params = { path: { thread_id: threadId } };
      const body = { limit: CHECKPOINT_LIMIT, metadata: { run_id: runId } };
      const states = await data(agentApi(server).POST("/threads/{thread_id}/history", { params, body, signal }));
      return (states as unknown as State[]).flatMap(({ checkpoint, created_at: at, metadata, next }) => {
        const { step, source } = (metadata ?? {}) as { step?: number; source?: string };
        const id = checkpoint.checkpoint_id;
        return id == null || at == null ? [] : [{ id, at, step: step ?? null, source: source ?? "", next }];
      });
    },
    placeholderData: (before) => before,
  });

/** Query for the trace of a run, which has the run's id; null until it has arrived. */
export const runTraceQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run-trace", runId],
    async queryFn({ signal }) {
      try {
        return await data(traceApi.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: runId } }, signal }));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    refetchInterval: ({ state }) => (state.data == null || state.data.status === "pending" ? LIVE_MS : false),
  });

/** Query for the log lines that a deployment's revisions wrote while a run was executed. */
export const runLogsQuery = (deploymentId: string | null, run: Run | undefined) =>
  queryOptions({
    queryKey: ["control", "deployments", deploymentId, "run-log", run?.run_id, run?.updated_at],
    async queryFn({ signal }) {
      const query = {
        type: "deploy" as const,
        order: "asc" as const,
        limit: String(LOG_LIMIT),
        start_time: new Date(Date.parse(run!.created_at)).toISOString(),
        ...(!isActive(run!.status) && {
          end_time: new Date(Date.parse(run!.updated_at) + LOG_SLACK_MS).toISOString(),
        }),
      };
      const params = { path: { deployment_id: deploymentId! }, query };
      return (await data(controlApi.GET("/v2/deployments/{deployment_id}/logs", { params, signal }))).logs;
    },
    enabled: deploymentId !== null && run !== undefined,
    refetchInterval: run && isActive(run.status) ? LIVE_MS : LATER_MS,
    placeholderData: (before) => before,
  });
