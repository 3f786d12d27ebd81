import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

const PAGE_SIZE = 100;

export type Queue = operations["get_api_v1_annotation_queues"]["responses"][200]["content"]["application/json"][number];
export type QueueItem =
  operations["get_api_v1_annotation_queues_queue_id_runs"]["responses"][200]["content"]["application/json"][number];
export type QueueProgress =
  operations["get_api_v1_annotation_queues_queue_id_progress"]["responses"][200]["content"]["application/json"];

export const queuesQuery = (text: string) =>
  infiniteQueryOptions({
    queryKey: ["annotation-queues", { text }],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: String(PAGE_SIZE),
        offset: String(pageParam),
        ...(text !== "" && { name_contains: text }),
      };
      return data(traceApi.GET("/api/v1/annotation-queues", { params: { query }, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: (page: unknown[], pages: unknown[][]) =>
      page.length < PAGE_SIZE ? undefined : pages.length * PAGE_SIZE,
    placeholderData: keepPreviousData,
  });

/** Query for the queues that runs can be added to. */
export const queueChoicesQuery = queryOptions({
  queryKey: ["annotation-queues", "all"],
  queryFn: ({ signal }) =>
    data(
      traceApi.GET("/api/v1/annotation-queues", {
        params: { query: { limit: "100", sort_by: "name", sort_by_desc: "false" } },
        signal,
      }),
    ),
});

const path = (queueId: string) => ({ path: { queue_id: queueId } });

export const queueQuery = (id: string) =>
  queryOptions({
    queryKey: ["annotation-queue", id],
    queryFn: ({ signal }) => data(traceApi.GET("/api/v1/annotation-queues/{queue_id}", { params: path(id), signal })),
  });

/** Query for the sizes of a queue's sections and the reviews of each reviewer. */
export const queueProgressQuery = (id: string) =>
  queryOptions({
    queryKey: ["annotation-queue", id, "progress"],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/annotation-queues/{queue_id}/progress", { params: path(id), signal })),
    refetchInterval: 10_000,
  });

export const queueAgreementQuery = (id: string) =>
  queryOptions({
    queryKey: ["annotation-queue", id, "agreement"],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/annotation-queues/{queue_id}/agreement", { params: path(id), signal })),
  });

export const queueItemsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["annotation-queue", id, "items"],
    queryFn: ({ pageParam, signal }) => {
      const params = { ...path(id), query: { limit: "50", offset: String(pageParam) } };
      return data(traceApi.GET("/api/v1/annotation-queues/{queue_id}/runs", { params, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: (page: unknown[], pages: unknown[][]) => (page.length < 50 ? undefined : pages.length * 50),
  });

/**
 * Query that reserves the caller's next item; null when none is left. Its result is the item under review, so it is read
 * once for each `turn`.
 */
export const nextItemQuery = (id: string, turn: number) =>
  queryOptions<QueueItem | null>({
    queryKey: ["annotation-queue-next", id, turn],
    queryFn: async () =>
      (await traceApi.POST("/api/v1/annotation-queues/{queue_id}/next", { params: path(id) })).data ?? null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

export type FeedbackConfig =
  operations["get_api_v1_feedback_configs"]["responses"][200]["content"]["application/json"][number];

export const feedbackConfigsQuery = queryOptions({
  queryKey: ["feedback-configs"],
  queryFn: ({ signal }) =>
    data(traceApi.GET("/api/v1/feedback-configs", { params: { query: { limit: "1000" } }, signal })),
  staleTime: 60_000,
});

/** Query for the example that a run of an experiment answers. */
export const referenceQuery = (exampleId: string | null | undefined) =>
  queryOptions({
    queryKey: ["example", exampleId],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/examples/{example_id}", { params: { path: { example_id: exampleId! } }, signal })),
    enabled: exampleId != null,
    staleTime: 60_000,
  });

/** Sets the caller's status of an item. */
export const setItemStatus = (
  itemId: string,
  body: { status: "viewed" | "completed" | null; override_added_at?: string },
) =>
  traceApi.POST("/api/v1/annotation-queues/status/{annotation_queue_run_id}", {
    params: { path: { annotation_queue_run_id: itemId } },
    body,
  });
