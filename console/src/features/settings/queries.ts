import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { components } from "../../api/trace.d.ts";

export type Workspace = components["schemas"]["VisibleWorkspace"];
export type Role = components["schemas"]["Role"];
export type ApiKey = components["schemas"]["ApiKey"];
export type Activity = components["schemas"]["OCSFApiActivity"];

/** Time limit of the identity request, on which the first page waits, for servers that hang. */
const IDENTITY_STALE_MS = 10_000;

/** Query for the caller's identity; a service key and an open server have no user. */
export const identityQuery = queryOptions({
  queryKey: ["identity", "who"],
  queryFn: () => data(traceApi.GET("/auth/public", { signal: AbortSignal.timeout(IDENTITY_STALE_MS) })),
});

export const organizationQuery = queryOptions({
  queryKey: ["identity", "organization"],
  queryFn: () => data(traceApi.GET("/api/v1/orgs/current/info", {})),
});

export const membersQuery = queryOptions({
  queryKey: ["identity", "members"],
  queryFn: () => data(traceApi.GET("/api/v1/orgs/current/members", {})),
});

export const workspaceMembersQuery = queryOptions({
  queryKey: ["identity", "workspace-members"],
  queryFn: () => data(traceApi.GET("/api/v1/workspaces/current/members", {})),
});

export const rolesQuery = queryOptions({
  queryKey: ["identity", "roles"],
  queryFn: () => data(traceApi.GET("/api/v1/orgs/current/roles", {})),
});

export const permissionsQuery = queryOptions({
  queryKey: ["identity", "permissions"],
  queryFn: () => data(traceApi.GET("/api/v1/orgs/permissions", {})),
  staleTime: Infinity,
});

export const keysQuery = queryOptions({
  queryKey: ["identity", "keys"],
  queryFn: () => data(traceApi.GET("/api/v1/api-key", {})),
});

/** Query for the keys of all workspaces, for users who may see them. */
export const organizationKeysQuery = queryOptions({
  queryKey: ["identity", "organization-keys"],
  queryFn: () => data(traceApi.GET("/api/v1/orgs/current/service-keys", {})),
});

/** Query for a user's keys; a service key or an open server has no user, and gets an error. */
export const personalKeysQuery = queryOptions({
  queryKey: ["identity", "personal-keys"],
  queryFn: () => data(traceApi.GET("/api/v1/api-key/current", {})),
});

export const rateLimitsQuery = queryOptions({
  queryKey: ["identity", "rate-limits"],
  queryFn: () => data(traceApi.GET("/api/v1/rate-limits", {})),
  refetchInterval: 3_000,
});

export interface AuditFilter {
  /** ISO times. */
  from: string;
  to: string;
  operation?: string | undefined;
  actor?: string | undefined;
  target?: string | undefined;
}

export const auditParams = ({ from, to, operation, actor, target }: AuditFilter) => ({
  start_time: from,
  end_time: to,
  ...(operation !== undefined && { operations: operation }),
  ...(actor !== undefined && { actor_id: actor }),
  ...(target !== undefined && { target }),
});

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ["identity", "audit", filter],
    queryFn: ({ pageParam: cursor }) =>
      data(
        traceApi.GET("/api/v1/audit-logs", {
          params: { query: { ...auditParams(filter), limit: "50", ...(cursor !== null && { cursor }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor ?? undefined,
  });
