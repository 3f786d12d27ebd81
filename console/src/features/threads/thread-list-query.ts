import type { Thread } from "@langchain/langgraph-sdk";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { agentApi, data } from "../../api/clients.ts";
import { isUuid, readMetadata, STATUSES, type ThreadListSearch } from "./read-thread-search.ts";

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
