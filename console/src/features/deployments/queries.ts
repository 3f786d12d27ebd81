import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { controlApi, data } from "../../api/clients.ts";
import type { components } from "../../api/control.d.ts";
import type { LogFilter } from "../../ui/log-view.tsx";
import type { LogKind } from "./tabs.ts";

export type Deployment = components["schemas"]["Deployment"];
export type Revision = components["schemas"]["Revision"];
export type Source = Deployment["source"];

/** Placeholder that the platform shows for a secret's value; sending it back keeps the value. */
export const MASK = "********";

const IN_PROGRESS = /^(CREATING|QUEUED|AWAITING_|BUILDING|DEPLOYING)/;
export const isInProgress = ({ status }: Pick<Revision, "status">): boolean => IN_PROGRESS.test(status);

const PAGE = 100;

export const deploymentsQuery = (name: string | undefined) =>
  queryOptions({
    queryKey: ["control", "deployments", { name }],
    async queryFn() {
      const query = { limit: String(PAGE), ...(name !== undefined && { name_contains: name }) };
      return (await data(controlApi.GET("/v2/deployments", { params: { query } }))).resources;
    },
    refetchInterval: 5_000,
  });

export const deploymentQuery = (id: string) =>
  queryOptions({
    queryKey: ["control", "deployments", id],
    queryFn: () => data(controlApi.GET("/v2/deployments/{deployment_id}", { params: { path: { deployment_id: id } } })),
    refetchInterval: 4_000,
  });

export const revisionsQuery = (id: string) =>
  queryOptions({
    queryKey: ["control", "deployments", id, "revisions"],
    async queryFn() {
      const params = { path: { deployment_id: id }, query: { limit: String(PAGE) } };
      return (await data(controlApi.GET("/v2/deployments/{deployment_id}/revisions", { params }))).resources;
    },
    refetchInterval: ({ state }) => (state.data?.some(isInProgress) ? 1_500 : 6_000),
  });

export const instancesQuery = (id: string) =>
  queryOptions({
    queryKey: ["control", "deployments", id, "instances"],
    async queryFn() {
      const params = { path: { deployment_id: id }, query: { limit: "50" } };
      return (await data(controlApi.GET("/v2/deployments/{deployment_id}/instances", { params }))).resources;
    },
    refetchInterval: 3_000,
  });

/** Query for the sources that this control plane's drivers can deploy. */
export const controlInfoQuery = queryOptions({
  queryKey: ["control", "info"],
  queryFn: () => data(controlApi.GET("/info", {})),
  staleTime: 60_000,
});

export const integrationsQuery = queryOptions({
  queryKey: ["control", "integrations"],
  async queryFn() {
    const params = { query: { limit: "100" } };
    return (await data(controlApi.GET("/v2/integrations/git", { params }))).resources;
  },
});

type LogEntry = components["schemas"]["LogEntry"];

const LOG_PAGE = 1000;
/** Polling interval for new lines while the log is followed. */
const LOG_LIVE_MS = 1_500;

export interface LogSource {
  deploymentId: string;
  /** Absent: all revisions. */
  revisionId?: string | undefined;
  kind: LogKind;
}

/**
 * Query for log lines. New lines are requested after the newest known one, so each is transferred once. `pages` go
 * backwards, from the newest to the oldest.
 */
export const logQuery = (source: LogSource, filter: LogFilter, isLive: boolean) => {
  const read = async (order: "asc" | "desc", offset: string | null): Promise<LogEntry[]> => {
    const query = {
      type: source.kind,
      order,
      limit: String(LOG_PAGE),
      ...(offset !== null && { offset }),
      ...(filter.query !== "" && { query: filter.query }),
      ...(filter.level !== "" && { level: filter.level as "INFO" }),
    };
    const path = { deployment_id: source.deploymentId };
    const answer =
      source.revisionId === undefined
        ? controlApi.GET("/v2/deployments/{deployment_id}/logs", { params: { path, query } })
        : controlApi.GET("/v2/deployments/{deployment_id}/revisions/{revision_id}/logs", {
            params: { path: { ...path, revision_id: source.revisionId }, query },
          });
    return (await data(answer)).logs;
  };
  return infiniteQueryOptions({
    queryKey: ["control", "log", source, filter],
    async queryFn({ pageParam, client }) {
      if (pageParam !== null) return (await read("desc", pageParam)).toReversed();
      const known = client.getQueryData<{ pages: LogEntry[][] }>(["control", "log", source, filter])?.pages[0] ?? [];
      const newest = known.at(-1)?.id;
      if (newest === undefined) return (await read("desc", null)).toReversed();
      return [...known, ...(await read("asc", newest))];
    },
    initialPageParam: null as string | null,
    getNextPageParam: (oldest) => (oldest.length >= LOG_PAGE ? oldest[0]!.id : undefined),
    refetchInterval: isLive ? LOG_LIVE_MS : false,
    staleTime: isLive ? 0 : 60_000,
  });
};

export const SOURCE_NAMES: Record<Source, string> = {
  internal_source: "Upload",
  github: "Git",
  external_docker: "Image",
  internal_docker: "Pushed image",
  internal_template: "Template",
};

/** Returns the id that the console's own paths use for a server, from `/d/<slug>` or `<slug>.<domain>`. */
export function readServerId({ source_config: { custom_url: url } }: Deployment): string | null {
  return /\/d\/([^/?]+)/.exec(url ?? "")?.[1] ?? /^https?:\/\/([a-z0-9-]+)\.[a-z]/.exec(url ?? "")?.[1] ?? null;
}
