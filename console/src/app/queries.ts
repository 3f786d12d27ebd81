import { queryOptions } from "@tanstack/react-query";

import { ApiError } from "../api/api-error.ts";
import { agentApi, controlApi, data, traceApi } from "../api/clients.ts";
import { PREFIX } from "../api/prefix.ts";

export interface Spaces {
  version: string;
  spaces: { agent: boolean; trace: boolean; control: boolean };
}

/** Query for the services behind this console. */
export const spacesQuery = queryOptions({
  queryKey: ["console"],
  async queryFn(): Promise<Spaces> {
    const response = await fetch(`${PREFIX}/console.json`);
    if (!response.ok) throw await ApiError.from(response);
    return (await response.json()) as Spaces;
  },
  staleTime: 10_000,
  refetchInterval: 15_000,
});

export interface AgentServer {
  /** `local`, or a deployment's name behind the gateway. In paths: `/a/<id>/…`. */
  id: string;
  name: string;
  /** Null for the server beside the console. */
  deploymentId: string | null;
}

/** Query for the deployments that have a URL, as agent servers. */
export const deploymentServersQuery = queryOptions({
  queryKey: ["console", "servers"],
  async queryFn(): Promise<AgentServer[]> {
    const { resources } = await data(controlApi.GET("/v2/deployments", { params: { query: { limit: "100" } } }));
    return resources.flatMap(({ id, name, source_config }) => {
      const url = (source_config as { custom_url?: string | null } | null)?.custom_url;
      // by path, or by host name where the gateway gives each deployment one
      const slug = /\/d\/([^/?]+)/.exec(url ?? "")?.[1] ?? /^https?:\/\/([a-z0-9-]+)\./.exec(url ?? "")?.[1];
      return slug === undefined ? [] : [{ id: slug, name, deploymentId: id }];
    });
  },
  refetchInterval: 15_000,
});

/** Query for the caller's workspaces. */
export const workspacesQuery = queryOptions({
  queryKey: ["identity", "workspaces"],
  queryFn: () => data(traceApi.GET("/api/v1/workspaces", {})),
});

/** Number of a server's threads that need review; also counted while the tab is in the background, for its title. */
export const interruptedCountQuery = (server: string) =>
  queryOptions({
    queryKey: ["agent", server, "threads", "interrupted"],
    queryFn: () => data(agentApi(server).POST("/threads/count", { body: { status: "interrupted" } })),
    refetchInterval: 10_000,
    refetchIntervalInBackground: true,
  });
