import { route, type Route } from "../../base/http/route.ts";
import { hosted } from "../api-host.ts";
import { maskSecrets, readEnvironment } from "../deployments/environment-secret.ts";
import { unknownDeployment, unknownRevision } from "../deployments/not-found.ts";
import { serializeDeployment, serializeRevisionConfig } from "../deployments/serialize-deployment.ts";
import * as deployments from "../deployments/schema.ts";
import { findDeployment, lockDeployment } from "../deployments/sql.ts";
import type { ControlDeps } from "../deps.ts";
import { deploymentUrl } from "../public-url.ts";
import { applyChange, checkRevisionBody } from "./create-revision.ts";
import { interrupt, redeploy } from "./redeploy.ts";
import * as schema from "./schema.ts";
import { findRevision, listRevisions, type RevisionRow } from "./sql.ts";

const shared = { tag: "Revisions", errorFamily: "validation" } as const;

const serializeRevision = (row: RevisionRow): schema.Revision => ({
  id: row.id,
  number: Number(row.number),
  created_by: row.created_by,
  redeploy_of: row.redeploy_of,
  finished_at: row.finished_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  status: row.status,
  status_message: row.status_message,
  source: row.source,
  source_revision_config: serializeRevisionConfig(row),
  made_from: {
    resource_spec: (row.source_config.resource_spec as Record<string, unknown> | null | undefined) ?? null,
    install_command: row.source_config.install_command ?? null,
    build_command: row.source_config.build_command ?? null,
    variables: row.variables,
    variable_changes: row.variable_changes,
  },
});

/** Revisions of a deployment. */
export function revisionRoutes(deps: ControlDeps): Route[] {
  const { sql, table } = deps;

  async function find(tenantId: string, deploymentId: string, id: string) {
    if (!(await findDeployment(sql, tenantId, deploymentId))) throw unknownDeployment(deploymentId);
    const row = await findRevision(sql, deploymentId, id);
    await table.settled();
    if (!row) throw unknownRevision(deploymentId, id);
    return row;
  }

  return [
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id/revisions"),
      method: "GET",
      permission: "deployments:read",
      summary: "List revisions, the newest first",
      params: deployments.deploymentParams,
      query: schema.listQuery,
      out: { 200: schema.revisionsList },
      async handler({ params, query, principal, c }) {
        const { deployment_id: id } = params;
        if (!(await findDeployment(sql, principal.workspaceId, id))) throw unknownDeployment(id);
        const rows = await listRevisions(sql, id, { ...query, remote: query.remote_reconciled });
        await table.settled();
        return c.json({ resources: rows.map(serializeRevision), offset: query.offset + rows.length });
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id/revisions"),
      method: "POST",
      permission: "deployments:update",
      summary: "Create a revision, even without a change",
      params: deployments.deploymentParams,
      body: deployments.revisionBody,
      out: { 201: schema.revision },
      errors: [400],
      async handler({ params, body, principal, c }) {
        checkRevisionBody(deps, body);
        const created = await sql.begin(async (tx) => {
          const row = await lockDeployment(tx, principal.workspaceId, params.deployment_id);
          if (!row) throw unknownDeployment(params.deployment_id);
          return (await applyChange(deps, tx, row, body, { always: true, createdBy: principal.actor.name }))!;
        });
        deps.worker.wake();
        return c.json(serializeRevision(await find(principal.workspaceId, params.deployment_id, created)), 201);
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id/revisions/:revision_id"),
      method: "GET",
      permission: "deployments:read",
      summary: "Get a revision and its progress",
      params: schema.revisionParams,
      out: { 200: schema.revision },
      async handler({ params, principal, c }) {
        return c.json(serializeRevision(await find(principal.workspaceId, params.deployment_id, params.revision_id)));
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id/revisions/:revision_id/redeploy"),
      method: "POST",
      permission: "deployments:update",
      summary: "Create a new revision from an older one, without a build if the old build still exists",
      params: schema.revisionParams,
      out: { 200: deployments.deployment },
      errors: [400],
      async handler({ params, principal, c }) {
        const { deployment_id: id, revision_id: revision } = params;
        await redeploy(deps, principal, id, revision);
        const row = (await findDeployment(sql, principal.workspaceId, id))!;
        const environment = await readEnvironment(deps.secrets, { purpose: "deployment-env", id });
        const secrets = maskSecrets(environment, deps.settings.returnSecrets);
        return c.json(serializeDeployment(row, secrets, deploymentUrl(deps, row.slug)));
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id/revisions/:revision_id/interruption"),
      method: "POST",
      permission: "deployments:update",
      summary: "Interrupt a revision",
      params: schema.revisionParams,
      out: { 200: schema.revision },
      errors: [400],
      async handler({ params, principal, c }) {
        const { deployment_id: id, revision_id: revision } = params;
        await interrupt(deps, principal.workspaceId, id, revision);
        return c.json(serializeRevision(await find(principal.workspaceId, id, revision)));
      },
    }),
  ];
}
