import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import type { components } from "../../api/agent.d.ts";
import { agentApi, data } from "../../api/clients.ts";

export type Item = components["schemas"]["Item"];

/** Namespaces shown per level; search finds items in the others. */
export const LEVEL_LIMIT = 1000;

/** Query for the direct children of a namespace. */
export const childrenQuery = (server: string, prefix: string[]) =>
  queryOptions({
    queryKey: ["agent", server, "store", "namespaces", prefix],
    async queryFn() {
      const body = { prefix, max_depth: prefix.length + 1, limit: LEVEL_LIMIT };
      const { namespaces } = await data(agentApi(server).POST("/store/namespaces", { body }));
      return namespaces
        .filter((path) => path.length > prefix.length)
        .map((path) => path[prefix.length]!)
        .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
    },
  });

export interface ItemSearch {
  namespace: string[];
  /** Text for semantic search. */
  query?: string | undefined;
  /** JSON as typed. */
  filter?: string | undefined;
}

const PAGE = 50;

/** Query for items. Reading them here does not extend their TTL. */
export const itemsQuery = (server: string, { namespace, query, filter }: ItemSearch) =>
  infiniteQueryOptions({
    queryKey: ["agent", server, "store", "items", namespace, query, filter],
    async queryFn({ pageParam: offset }) {
      const body = {
        namespace_prefix: namespace,
        limit: PAGE,
        offset,
        refresh_ttl: false,
        ...(query !== undefined && { query }),
        ...(filter !== undefined && { filter: JSON.parse(filter) as Record<string, unknown> }),
      };
      return (await data(agentApi(server).POST("/store/items/search", { body }))).items;
    },
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length === PAGE ? pages.length * PAGE : undefined),
  });

export const itemQuery = (server: string, namespace: string[], key: string) =>
  queryOptions({
    queryKey: ["agent", server, "store", "item", namespace, key],
    queryFn: () =>
      data(agentApi(server).GET("/store/items", { params: { query: { namespace, key, refresh_ttl: "false" } } })),
  });
