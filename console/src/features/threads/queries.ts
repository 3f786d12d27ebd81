import type {
  Assistant,
  AssistantGraph,
  Checkpoint,
  GraphSchema,
  Run,
  Thread,
  ThreadState,
} from "@langchain/langgraph-sdk";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { agentApi, data, traceApi } from "../../api/clients.ts";
import { isUuid, readMetadata, STATUSES, type ThreadListSearch } from "./read-thread-search.ts";

export type State = ThreadState<Record<string, unknown>>;
export type { Checkpoint, Run, Thread };

/** Number of newest states fetched at once; each contains all values. */
export const HISTORY_LIMIT = 50;

/** Key prefix of all cached data of a thread. */
export const threadKey = (server: string, threadId: string) => ["agent", server, "thread", threadId] as const;

export const threadQuery = (server: string, threadId: string) =>
  queryOptions({
    queryKey: [...threadKey(server, threadId), "row"],
    queryFn: async () => {
      const params = { path: { thread_id: threadId } };
      return (await data(agentApi(server).GET("/threads/{thread_id}", { params }))) as unknown as Thread;
    },
  });

export const historyQuery = (server: string, threadId: string, limit = HISTORY_LIMIT) =>
  queryOptions({
    queryKey: [...threadKey(server, threadId), "history", limit],
    queryFn: async () => {
      const params = { path: { thread_id: threadId } };
      const states = await data(agentApi(server).POST("/threads/{thread_id}/history", { params, body: { limit } }));
      return states as unknown as State[];
    },
  });

export const runsQuery = (server: string, threadId: string, limit = 20, offset = 0) =>
  queryOptions({
    queryKey: [...threadKey(server, threadId), "runs", limit, offset],
    queryFn: async () => {
      const params = { path: { thread_id: threadId }, query: { limit, offset } };
      return (await data(agentApi(server).GET("/threads/{thread_id}/runs", { params }))) as unknown as Run[];
    },
    placeholderData: keepPreviousData,
  });

export const stateQuery = (server: string, threadId: string, checkpointId: string) =>
  queryOptions({
    queryKey: [...threadKey(server, threadId), "state", checkpointId],
    queryFn: async () => {
      const params = { path: { thread_id: threadId, checkpoint_id: checkpointId } };
      const state = await data(agentApi(server).GET("/threads/{thread_id}/state/{checkpoint_id}", { params }));
      return state as unknown as State;
    },
    // checkpoints are immutable
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Query for the last state of a subgraph, whose checkpoints have their own namespace; null where it left none. */
export const namespaceStateQuery = (server: string, threadId: string, namespace: string) =>
  queryOptions({
    queryKey: [...threadKey(server, threadId), "namespace", namespace],
    queryFn: async () => {
      const params = { path: { thread_id: threadId } };
      const body = { checkpoint: { checkpoint_ns: namespace } };
      const state = await data(agentApi(server).POST("/threads/{thread_id}/state/checkpoint", { params, body }));
      const { values } = state as unknown as State;
      return Object.keys(values ?? {}).length > 0 ? (state as unknown as State) : null;
    },
    staleTime: 60_000,
    retry: false,
  });

/** Limit on listed assistants; their own page has a search. */
const ASSISTANT_LIMIT = 500;

export const assistantsQuery = (server: string) =>
  queryOptions({
    queryKey: ["agent", server, "assistants", "all"],
    queryFn: async () => {
      const body = { limit: ASSISTANT_LIMIT, sort_by: "name", sort_order: "asc" } as const;
      return (await data(agentApi(server).POST("/assistants/search", { body }))) as unknown as Assistant[];
    },
    staleTime: 30_000,
  });

export const schemasQuery = (server: string, assistantId: string) =>
  queryOptions({
    queryKey: ["agent", server, "assistants", assistantId, "schemas"],
    queryFn: async () => {
      const params = { path: { assistant_id: assistantId } };
      return (await data(
        agentApi(server).GET("/assistants/{assistant_id}/schemas", { params }),
      )) as unknown as GraphSchema;
    },
    staleTime: 60_000,
  });

export const drawingQuery = (server: string, assistantId: string) =>
  queryOptions({
    queryKey: ["agent", server, "assistants", assistantId, "drawing"],
    queryFn: async () => {
      const params = { path: { assistant_id: assistantId }, query: { xray: "true" } };
      const drawing = await data(agentApi(server).GET("/assistants/{assistant_id}/graph", { params }));
      return drawing as unknown as AssistantGraph;
    },
    staleTime: 60_000,
  });

export const PAGE = 25;

export interface ThreadLine extends Omit<Thread, "values"> {
  extracted?: { last?: unknown; first?: unknown };
}

function searchFilter({ assistant, meta }: ThreadListSearch) {
  const metadata = { ...(assistant !== undefined && { assistant_id: assistant }), ...readMetadata(meta) };
  return Object.keys(metadata).length > 0 ? { metadata } : {};
}

/** Query for a page of threads, without their values, which may be large. */
export const threadListQuery = (server: string, search: ThreadListSearch) =>
  queryOptions({
    queryKey: ["agent", server, "threads", search],
    async queryFn() {
      const { status, id, sort = "updated_at", order = "desc", page = 1 } = search;
      if (id !== undefined && !isUuid(id)) return { threads: [], total: 0 };
      const body = {
        ...searchFilter(search),
        ...(status && { status }),
        ...(id !== undefined && { ids: [id.trim()] }),
        sort_by: sort,
        sort_order: order,
        limit: PAGE,
        offset: (page - 1) * PAGE,
        select: ["thread_id", "status", "metadata", "created_at", "updated_at", "interrupts", "error"] as const,
        extract: { last: "values.messages[-1].content", first: "values.messages[0].content" },
      };
      const { data: threads, response } = await agentApi(server).POST("/threads/search", { body: body as never });
      const total = Number(response.headers.get("x-pagination-total") ?? Number.NaN);
      return { threads: (threads ?? []) as unknown as ThreadLine[], total: Number.isFinite(total) ? total : null };
    },
    placeholderData: keepPreviousData,
    refetchInterval: 3_000,
  });

/** Query for the number of threads by status, regardless of the selected status. */
export const threadCountsQuery = (server: string, { assistant, meta }: ThreadListSearch) =>
  queryOptions({
    queryKey: ["agent", server, "threads", "counts", assistant, meta],
    async queryFn() {
      const filter = searchFilter({ ...(assistant && { assistant }), ...(meta && { meta }) });
      const count = (status?: string) =>
        data(agentApi(server).POST("/threads/count", { body: { ...filter, ...(status && { status }) } as never }));
      const [all, ...each] = await Promise.all([count(), ...STATUSES.map(count)]);
      return { all: Number(all), ...Object.fromEntries(STATUSES.map((status, at) => [status, Number(each[at])])) };
    },
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  });

export interface GivenFeedback {
  id: string;
  run_id?: string | null;
  key: string;
  score?: number | boolean | null;
  value?: unknown;
  comment?: string | null;
  created_at: string;
}

/** Query for the feedback of these runs. */
export const feedbackQuery = (runIds: string[]) =>
  queryOptions({
    queryKey: ["trace", "feedback", "of-runs", runIds],
    queryFn: async () => {
      const query = { run: runIds, limit: "100" };
      return (await data(traceApi.GET("/api/v1/feedback", { params: { query } }))) as unknown as GivenFeedback[];
    },
    enabled: runIds.length > 0,
    refetchInterval: 5_000,
  });
