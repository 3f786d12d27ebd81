import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import type { components } from "../../api/agent.d.ts";
import { agentApi, data, traceApi } from "../../api/clients.ts";
import { recentProjectsQuery } from "../home/queries.ts";

export type Cron = components["schemas"]["Cron"];

const PAGE = 50;
const TRACES = 20;

export const cronsQuery = (server: string, enabled: boolean | undefined) =>
  infiniteQueryOptions({
    queryKey: ["agent", server, "crons", { enabled }],
    queryFn: ({ pageParam: offset }) =>
      data(
        agentApi(server).POST("/runs/crons/search", {
          body: { limit: PAGE, offset, ...(enabled !== undefined && { enabled }) },
        }),
      ) as Promise<Cron[]>,
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length === PAGE ? pages.length * PAGE : undefined),
    refetchInterval: 15_000,
  });

export const cronQuery = (server: string, id: string) =>
  queryOptions({
    queryKey: ["agent", server, "crons", id],
    queryFn: () =>
      data(agentApi(server).GET("/runs/crons/{cron_id}", { params: { path: { cron_id: id } } })) as Promise<Cron>,
    refetchInterval: 15_000,
  });

export interface CronRun {
  /** Null where only the thread is known: each of its runs has its own. */
  run_id: string | null;
  thread_id: string;
  status: string;
  created_at: string;
}

/**
 * Query for a cron's runs. Runs carry their cron's id, as do the threads that were created for them. Runs of a cron
 * that keeps none have been deleted.
 */
export const cronRunsQuery = (server: string, { cron_id: id, thread_id: threadId }: Cron) =>
  queryOptions({
    queryKey: ["agent", server, "crons", id, "runs"],
    async queryFn(): Promise<CronRun[]> {
      if (threadId === null) {
        const body = { metadata: { cron_id: id }, limit: 20, sort_by: "created_at", sort_order: "desc" } as const;
        const threads = await data(agentApi(server).POST("/threads/search", { body }));
        return threads.map(({ thread_id, status, created_at }) => {
          return { run_id: null, thread_id: thread_id!, status: status!, created_at: created_at! };
        });
      }
      const query = { limit: 20, metadata: JSON.stringify({ cron_id: id }) };
      const params = { path: { thread_id: threadId }, query };
      const runs = await data(agentApi(server).GET("/threads/{thread_id}/runs", { params }));
      return runs.map(({ run_id, thread_id, status, created_at }) => {
        return { run_id: run_id!, thread_id: thread_id!, status: status!, created_at: created_at! };
      });
    },
    refetchInterval: 10_000,
  });

export const assistantNamesQuery = (server: string) =>
  queryOptions({
    queryKey: ["agent", server, "assistants", "names"],
    async queryFn() {
      const found = await data(
        agentApi(server).POST("/assistants/search", {
          body: { limit: 1000, sort_by: "name", sort_order: "asc", select: ["assistant_id", "name", "graph_id"] },
        }),
      );
      return found as { assistant_id: string; name: string; graph_id: string }[];
    },
    staleTime: 30_000,
  });

/** Query for the newest traces of a cron's runs, in the most recently active projects. They outlast the runs. */
export const cronTracesQuery = ({ cron_id: id }: Cron) =>
  queryOptions({
    queryKey: ["cron-traces", id],
    async queryFn({ client, signal }) {
      const session = (await client.fetchQuery(recentProjectsQuery)).map((project) => project.id);
      if (session.length === 0) return [];
      const filter = `and(eq(metadata_key, "cron_id"), eq(metadata_value, ${JSON.stringify(id)}))`;
      const select = ["id", "status", "start_time", "session_id"] as const;
      const heads = { is_root: true, include_provisional_roots: true };
      const body = { session, ...heads, filter, limit: TRACES, select: [...select] };
      return (await data(traceApi.POST("/api/v1/runs/query", { body, signal }))).runs;
    },
    refetchInterval: 15_000,
  });
