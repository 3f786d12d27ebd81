import { queryOptions } from "@tanstack/react-query";

import { agentApi, data } from "../../api/clients.ts";
import type { operations } from "../../api/agent.d.ts";

export type Queue = operations["get_queue"]["responses"][200]["content"]["application/json"];
export type Reason = Queue["waiting"][number]["reason"];

export const queueQuery = (server: string) =>
  queryOptions({
    queryKey: ["queue", server],
    queryFn: ({ signal }) => data(agentApi(server).GET("/queue", { params: { query: { limit: "500" } }, signal })),
    refetchInterval: 2_000,
  });

export const cancelRun = (server: string, threadId: string, runId: string) =>
  data(
    agentApi(server).POST("/threads/{thread_id}/runs/{run_id}/cancel", {
      params: { path: { thread_id: threadId, run_id: runId }, query: { action: "interrupt" } },
    }),
  );
