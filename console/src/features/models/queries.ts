import { queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

type Answer<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;

export type Provider = Answer<"get_api_v1_models_providers">["providers"][number];
export type Connection = Answer<"get_api_v1_models_connections">["connections"][number];
export type Budget = Answer<"get_api_v1_models_budget">;

export const providersQuery = queryOptions({
  queryKey: ["models", "providers"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/models/providers", { signal })),
  select: ({ providers }) => providers,
  staleTime: 60_000,
});

export const connectionsQuery = queryOptions({
  queryKey: ["models", "connections"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/models/connections", { signal })),
  select: ({ connections }) => connections,
});

export const savedModelsQuery = queryOptions({
  queryKey: ["models", "saved"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/playground-settings", { signal })),
});

export const budgetQuery = queryOptions({
  queryKey: ["models", "budget"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/models/budget", { signal })),
  refetchInterval: 30_000,
});

export const secretNamesQuery = queryOptions({
  queryKey: ["models", "secrets"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/workspaces/current/secrets", { signal })),
});

/** Query for the model names of a connection, which asks its provider. */
export const connectionModelsQuery = (connectionId: string) =>
  queryOptions({
    queryKey: ["models", "connection-models", connectionId],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/models/connections/{connection_id}/models", {
          params: { path: { connection_id: connectionId } },
          signal,
        }),
      ),
    staleTime: 300_000,
    retry: false,
  });
