import type { Principal } from "../../base/auth/principal.ts";
import type { Transaction } from "../../base/db/connect.ts";
import { type AppError, conflict, notFound } from "../../base/errors.ts";
import { disclosesSecrets } from "../../base/http/audit-requests.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import { hosted } from "../api-host.ts";
import type { ControlDeps } from "../deps.ts";
import { stateError } from "../deployments/validate.ts";
import { clusterReport, clusterWork, reportAnswer } from "../kubernetes/desired-deployment.ts";
import * as schema from "./schema.ts";
import { issueCredential, revokeCredential } from "./change-credential.ts";
import {
  AWAY_SECONDS,
  deleteUnused,
  findListener,
  insertListener,
  isCredential,
  type ListenerRow,
  listListeners,
  lockListener,
  markSeen,
  updateListener,
} from "./sql.ts";

const shared = { tag: "Listeners", errorFamily: "validation" } as const;

/** Deployments that an audit entry names. */
const MOST_NAMED = 250;

/** Message of LangSmith's control plane. */
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
  has_credential: row.has_credential,
  status: statusOf(row),
});

function statusOf({ last_seen_at: seen }: ListenerRow): schema.ListenerStatus {
  if (seen === null) return "never_connected";
  return Date.now() - seen.getTime() > AWAY_SECONDS * 1000 ? "away" : "connected";
}

/** Clusters that run deployments for a remote control plane. */
export function listenerRoutes(deps: ControlDeps): Route[] {
  const { sql } = deps;

  /** For the listener itself, which its credential identifies; no other key is admitted, whatever its permissions. */
  const own = {
    ...shared,
    permission: "own",
    params: schema.listenerParams,
    admits: (principal: Principal, { listener_id: listenerId = "" }: Record<string, string>): Promise<boolean> =>
      isCredential(sql, { tenantId: principal.workspaceId, keyId: principal.actor.id, listenerId }),
  } as const;

  /** Runs an action on a listener that is locked. @throws 404 */
  const withListener = <T>(
    { workspaceId }: Principal,
    id: string,
    action: (tx: Transaction, row: ListenerRow) => Promise<T>,
  ): Promise<T> =>
    sql.begin(async (tx) => {
      const row = await lockListener(tx, workspaceId, id, "update");
      if (!row) throw unknown(id);
      return action(tx, row);
    }) as Promise<T>;

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
      summary: "Create a listener, with its credential",
      auditFields: ["compute_type", "compute_id"],
      body: schema.createBody,
      out: { 201: schema.newListener },
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
        const credential = await sql.begin(async (tx) =>
          (await insertListener(tx, listener))
            ? issueCredential(tx, principal, { ...listener, key_id: null })
            : undefined,
        );
        const row = credential === undefined ? undefined : await findListener(sql, tenant_id, listener.id);
        if (row && credential !== undefined) return c.json({ ...print(row), credential }, 201);
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
        await withListener(principal, params.listener_id, async (tx, row) => {
          if (!(await deleteUnused(tx, row.id))) {
            throw stateError(`Listener ID ${row.id} runs deployments. Delete them first.`);
          }
          await revokeCredential(tx, principal, row);
        });
        return c.body(null, 204);
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/listeners/:listener_id/credential"),
      method: "POST",
      permission: "workspaces:manage",
      summary: "Issue a listener's credential, which replaces the earlier one at once",
      params: schema.listenerParams,
      out: { 201: schema.newCredential },
      async handler({ params, principal, c }) {
        const issue = (tx: Transaction, row: ListenerRow) => issueCredential(tx, principal, row);
        return c.json({ credential: await withListener(principal, params.listener_id, issue) }, 201);
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/listeners/:listener_id/credential"),
      method: "DELETE",
      permission: "workspaces:manage",
      summary: "Revoke a listener's credential",
      params: schema.listenerParams,
      out: { 204: null },
      async handler({ params, principal, c }) {
        await withListener(principal, params.listener_id, (tx, row) => revokeCredential(tx, principal, row));
        return c.body(null, 204);
      },
    }),
    route({
      ...own,
      ...hosted("/v2/listeners/:listener_id/self"),
      method: "GET",
      summary: "For a listener: get its own record",
      out: { 200: schema.listener },
      async handler({ params, principal, c }) {
        const row = await findListener(sql, principal.workspaceId, params.listener_id);
        if (!row) throw unknown(params.listener_id);
        return c.json(print(row));
      },
    }),
    route({
      ...own,
      ...hosted("/v2/listeners/:listener_id/work"),
      method: "GET",
      audit: "disclosure",
      summary: "For a listener: wait for a change of what its cluster is to run",
      query: schema.workQuery,
      out: { 200: clusterWork },
      async handler({ params: { listener_id: id }, query, c }) {
        await markSeen(sql, id);
        const { signal } = c.req.raw;
        try {
          const work = await deps.clusters.workSource(id).next(query.version ?? null, signal);
          // the environments of these deployments
          const ids = work.deployments?.flatMap(({ deploymentId, revision }) => (revision ? deploymentId : []));
          if (ids && ids.length > 0) {
            const more = ids.length > MOST_NAMED ? `,… ${ids.length} in total` : "";
            const named = ids.slice(0, MOST_NAMED).join(",") + more;
            disclosesSecrets(c, { deployment_ids: named, version: work.version });
          }
          return c.json(work);
        } catch (error) {
          // the listener has disconnected, so the answer is discarded
          if (signal.aborted) return c.json({ version: query.version ?? "", deployments: null });
          throw error;
        }
      },
    }),
    route({
      ...own,
      ...hosted("/v2/listeners/:listener_id/reports"),
      method: "POST",
      audit: "none",
      summary: "For a listener: report what its cluster runs",
      body: clusterReport,
      out: { 200: reportAnswer },
      async handler({ params: { listener_id: id }, body, c }) {
        await markSeen(sql, id);
        return c.json(await deps.clusters.workSource(id).report(body));
      },
    }),
  ];
}
