import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import type { components } from "../../api/agent.d.ts";
import { agentApi, data } from "../../api/clients.ts";

export type Delivery = components["schemas"]["WebhookDelivery"];
export const STATUSES = ["pending", "delivered", "failed"] as const;
export type DeliveryStatus = (typeof STATUSES)[number];

const PAGE = 50;

export const deliveriesQuery = (
  server: string,
  filter: { status?: DeliveryStatus | undefined; run?: string | undefined },
) =>
  infiniteQueryOptions({
    queryKey: ["agent", server, "deliveries", filter],
    queryFn: ({ pageParam: offset }) =>
      data(
        agentApi(server).GET("/webhooks/deliveries", {
          params: {
            query: {
              limit: String(PAGE),
              offset: String(offset),
              ...(filter.status && { status: filter.status }),
              ...(filter.run && { run_id: filter.run }),
            },
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length === PAGE ? pages.length * PAGE : undefined),
    refetchInterval: 5_000,
  });

export const deliveryQuery = (server: string, id: string) =>
  queryOptions({
    queryKey: ["agent", server, "deliveries", id],
    queryFn: () =>
      data(agentApi(server).GET("/webhooks/deliveries/{delivery_id}", { params: { path: { delivery_id: id } } })),
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? 1_500 : 15_000),
  });
