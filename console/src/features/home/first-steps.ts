/** Checklist of the first minutes. A step is done once it happened, whatever happens to its objects later. */
import { queryOptions } from "@tanstack/react-query";

import { agentApi, data, traceApi } from "../../api/clients.ts";

export const STEPS = ["talk", "trace", "break", "fix", "dataset"] as const;
export type Step = (typeof STEPS)[number];

/** Keys of what this browser remembers. */
export const DONE_KEY = "heddle.first-steps.done";
export const DISMISSED_KEY = "heddle.first-steps.dismissed";
const TRACE_KEY = "heddle.first-steps.trace";

/** Remembers that a trace was opened, which the servers do not record. */
export function noteTraceOpened(): void {
  localStorage.setItem(TRACE_KEY, "true");
}

export interface Happened {
  steps: Step[];
  /** Failed trace, to look at. */
  failure: { projectId: string; runId: string } | null;
  /** Newest trace. */
  newest: { projectId: string; runId: string } | null;
}

/** Query for the steps that have happened on this server. */
export const happenedQuery = (server: string, projectIds: string[]) =>
  queryOptions({
    queryKey: ["home", "first-steps", server, projectIds],
    async queryFn({ signal }): Promise<Happened> {
      const select = ["id", "session_id", "start_time", "error", "status"] as const;
      const readRuns = async (filter: object) => {
        if (projectIds.length === 0) return [];
        const body = {
          session: projectIds,
          is_root: true,
          include_provisional_roots: true,
          limit: 1,
          select: [...select],
          ...filter,
        };
        return (await data(traceApi.POST("/api/v1/runs/query", { body, signal }))).runs;
      };
      const query = { limit: "1" } as const;
      const [threads, [newest], [failure], datasets] = await Promise.all([
        data(agentApi(server).POST("/threads/search", { body: { limit: 1 }, signal })),
        readRuns({}),
        readRuns({ error: true }),
        data(traceApi.GET("/api/v1/datasets", { params: { query }, signal })),
      ]);
      const place = (run: typeof newest) => (run ? { projectId: run.session_id!, runId: run.id! } : null);
      const isFixed = failure !== undefined && newest?.status === "success";
      const happened: Record<Step, boolean> = {
        talk: threads.length > 0,
        trace: localStorage.getItem(TRACE_KEY) !== null,
        break: failure !== undefined,
        fix: isFixed && newest.start_time! > failure.start_time!,
        dataset: datasets.length > 0,
      };
      return { steps: STEPS.filter((step) => happened[step]), failure: place(failure), newest: place(newest) };
    },
    refetchInterval: 5_000,
  });
