import { type AppError, conflict, notFound } from "../../base/errors.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import { hosted } from "../api-host.ts";
import type { ControlDeps } from "../deps.ts";
import { stateError } from "../deployment-records/validate.ts";
import { clusterReport, clusterWork, reportAnswer } from "../kubernetes/desired-deployment.ts";
import * as schema from "./schema.ts";
import {
  AWAY_SECONDS,
  deleteListenerRow,
  findListener,
  insertListener,
  isListenerUsed,
  type ListenerRow,
  listListeners,
  markSeen,
  updateListener,
} from "./sql.ts";

const shared = { tag: "Listeners", errorFamily: "validation" } as const;

/** Message as in contract control-plane §1.2. */
const unknown = (id: string): AppError => notFound(`Listener ID ${id} not found.`);

const print = (row: ListenerRow) => ({
  id: row.id,
  version: row.version,
  compute_type: row.compute_type,
  compute_id: row.compute_id,
  compute_config: { k8s_namespaces: row.compute_config.k8s_namespaces ?? null },
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  last_seen_at: row.last_seen_at?.toISOString() ?? null,
  status: statusOf(row),
});

function statusOf({ last_seen_at: seen }: ListenerRow): schema.ListenerStatus {
  if (seen === null) return "never_connected";
  return Date.now() - seen.getTime() > AWAY_SECONDS * 1000 ? "away" : "connected";
}

/** Clusters that run deployments for a remote control plane (contract control-plane §3.1, rows 26 to 28). */
export function listenerRoutes(deps: ControlDeps): Route[] {
  const { sql } = deps;

  /** Finds a listener for a request of its own process, and records that it was seen. */
  async function seen(tenantId: string, id: string): Promise<ListenerRow> {
    const row = await findListener(sql, tenantId, id);
    if (!row) throw unknown(id);
    await markSeen(sql, id);
    return row;
  }

  return [
    route({
      ...shared,
      ...hosted("/v2/listeners"),
      method: "GET",
      permission: "deployments:read",
      summary: "List listeners, the newest first",
      query: schema.listQuery,
      out: { 200: schema.listenersList },
      async handler({ query, principal, c }) {
        const rows = await listListeners(sql, principal.workspaceId, query);
        return c.json({ resources: rows.map(print), offset: query.offset + rows.length });
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/listeners"),
      method: "POST",
      permission: "workspaces:manage",
      summary: "Create a listener",
      auditFields: ["compute_type", "compute_id"],
      body: schema.createBody,
      out: { 201: schema.listener },
      errors: [409],
      async handler({ body, principal, c }) {
        const { compute_type, compute_id, compute_config } = body;
        const tenant_id = principal.workspaceId;
        const listener = {
          id: uuid7(),
          tenant_id,
          version: body.version ?? null,
          compute_type,
          compute_id,
          compute_config,
        };
        const row = await insertListener(sql, listener);
        if (row) return c.json(print(row), 201);
        throw conflict(
          `Listener for LangSmith workspace ID '${tenant_id}' and compute ID '${compute_id}' already exists.`,
        );
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/listeners/:listener_id"),
      method: "GET",
      permission: "deployments:read",
      summary: "Get a listener",
      params: schema.listenerParams,
      out: { 200: schema.listener },
      async handler({ params, principal, c }) {
        const row = await findListener(sql, principal.workspaceId, params.listener_id);
        if (!row) throw unknown(params.listener_id);
        return c.json(print(row));
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/listeners/:listener_id"),
      method: "PATCH",
      permission: "workspaces:manage",
      summary: "Update a listener",
      params: schema.listenerParams,
      body: schema.patchBody,
      out: { 200: schema.listener },
      async handler({ params, body, principal, c }) {
        const change = { version: body.version ?? null, compute_config: body.compute_config ?? null };
        const row = await updateListener(sql, principal.workspaceId, params.listener_id, change);
        if (!row) throw unknown(params.listener_id);
        return c.json(print(row));
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/listeners/:listener_id"),
      method: "DELETE",
      permission: "workspaces:manage",
      summary: "Delete a listener",
      params: schema.listenerParams,
      out: { 204: null },
      errors: [400],
      async handler({ params, principal, c }) {
        if (await isListenerUsed(sql, params.listener_id)) {
          throw stateError(`Listener ID ${params.listener_id} runs deployments. Delete them first.`);
        }
        if (!(await deleteListenerRow(sql, principal.workspaceId, params.listener_id)))
          throw unknown(params.listener_id);
        return c.body(null, 204);
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/listeners/:listener_id/work"),
      method: "GET",
      // the answer contains the environments of deployments, which require this permission
      permission: "deployments:update",
      audit: "none",
      summary: "For a listener: wait for a change of what its cluster is to run",
      params: schema.listenerParams,
      query: schema.workQuery,
      out: { 200: clusterWork },
      async handler({ params, query, principal, c }) {
        const { id } = await seen(principal.workspaceId, params.listener_id);
        const { signal } = c.req.raw;
        try {
          return c.json(await deps.clusters.workSource(id).next(query.version ?? null, signal));
        } catch (error) {
          // the listener has disconnected, so the answer is discarded
          if (signal.aborted) return c.json({ version: query.version ?? "", deployments: null });
          throw error;
        }
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/listeners/:listener_id/reports"),
      method: "POST",
      permission: "deployments:update",
      audit: "none",
      summary: "For a listener: report what its cluster runs",
      params: schema.listenerParams,
      body: clusterReport,
      out: { 200: reportAnswer },
      async handler({ params, body, principal, c }) {
        const { id } = await seen(principal.workspaceId, params.listener_id);
        return c.json(await deps.clusters.workSource(id).report(body));
      },
    }),
  ];
}
