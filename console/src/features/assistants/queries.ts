import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import type { components } from "../../api/agent.d.ts";
import { agentApi, data } from "../../api/clients.ts";

export type Assistant = components["schemas"]["Assistant"];
export type AssistantVersion = components["schemas"]["AssistantVersion"];

const PAGE = 50;

export interface AssistantFilter {
  name?: string | undefined;
  graph?: string | undefined;
}

export const assistantsQuery = (server: string, { name, graph }: AssistantFilter) =>
  infiniteQueryOptions({
    queryKey: ["agent", server, "assistants", { name, graph }],
    queryFn: ({ pageParam: offset }) =>
      data(
        agentApi(server).POST("/assistants/search", {
          body: {
            limit: PAGE,
            offset,
            sort_by: "updated_at",
            sort_order: "desc",
            ...(name && { name }),
            ...(graph && { graph_id: graph }),
          },
        }),
      ) as Promise<Assistant[]>,
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length === PAGE ? pages.length * PAGE : undefined),
  });

/** Query for the graphs: each has a default assistant, created by the system. */
export const graphsQuery = (server: string) =>
  queryOptions({
    queryKey: ["agent", server, "graphs"],
    async queryFn() {
      const found = await data(
        agentApi(server).POST("/assistants/search", {
          body: { limit: 1000, metadata: { created_by: "system" }, select: ["graph_id"] },
        }),
      );
      return [...new Set((found as Assistant[]).map(({ graph_id: id }) => id))].toSorted();
    },
    staleTime: 60_000,
  });

const path = (id: string) => ({ params: { path: { assistant_id: id } } });

export const assistantQuery = (server: string, id: string) =>
  queryOptions({
    queryKey: ["agent", server, "assistants", id],
    queryFn: () => data(agentApi(server).GET("/assistants/{assistant_id}", path(id))),
  });

export const versionsQuery = (server: string, id: string) =>
  queryOptions({
    queryKey: ["agent", server, "assistants", id, "versions"],
    queryFn: () =>
      data(agentApi(server).POST("/assistants/{assistant_id}/versions", { ...path(id), body: { limit: 1000 } })),
  });

export const schemasQuery = (server: string, id: string) =>
  queryOptions({
    queryKey: ["agent", server, "assistants", id, "schemas"],
    queryFn: () => data(agentApi(server).GET("/assistants/{assistant_id}/schemas", path(id))),
    staleTime: 60_000,
  });

export const drawingQuery = (server: string, id: string) =>
  queryOptions({
    queryKey: ["agent", server, "assistants", id, "graph"],
    queryFn: () =>
      data(
        agentApi(server).GET("/assistants/{assistant_id}/graph", {
          params: { path: { assistant_id: id }, query: { xray: "true" } },
        }),
      ),
    staleTime: 60_000,
  });

/** Whether the server created the assistant for its graph: it can be changed, and would reappear if deleted. */
export const isDefault = ({ metadata }: Pick<Assistant, "metadata">): boolean => metadata["created_by"] === "system";
