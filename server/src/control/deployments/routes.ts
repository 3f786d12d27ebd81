import { z } from "zod";

import { forbidden } from "../../base/errors.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { hosted } from "../api-host.ts";
import type { ControlDeps } from "../deps.ts";
import { deploymentUrl } from "../public-url.ts";
import { applyChange, checkRevisionBody } from "../revisions/create-revision.ts";
import { createDeployment } from "./create-deployment.ts";
import { deleteDeployment, deleteMany } from "./delete-deployment.ts";
import { maskSecrets, readEnvironment } from "./environment-secret.ts";
import { checkDriver } from "../revisions/check-driver.ts";
import { issuePushToken } from "../registry/registry-address.ts";
import { unknownDeployment } from "./not-found.ts";
import { serializeDeployment } from "./serialize-deployment.ts";
import * as schema from "./schema.ts";
import { countDeployments, type DeploymentRow, findDeployment, listDeployments, lockDeployment } from "./sql.ts";
import { stateError } from "./validate.ts";

const shared = { tag: "Deployments", errorFamily: "validation" } as const;

/** Deployments. */
export function deploymentRoutes(deps: ControlDeps): Route[] {
  const { sql, table } = deps;

  async function print(row: DeploymentRow): Promise<schema.Deployment> {
    const environment = await readEnvironment(deps.secrets, { purpose: "deployment-env", id: row.id });
    const secrets = maskSecrets(environment, deps.settings.returnSecrets);
    return serializeDeployment(row, secrets, deploymentUrl(deps, row.slug));
  }

  async function find({ workspaceId }: Principal, id: string): Promise<DeploymentRow> {
    const row = await findDeployment(sql, workspaceId, id);
    await table.settled();
    if (!row) throw unknownDeployment(id);
    return row;
  }

  return [
    route({
      ...shared,
      ...hosted("/v2/deployments"),
      method: "GET",
      permission: "deployments:read",
      summary: "List deployments; an exact match of the name comes first, then the newest",
      query: schema.listQuery,
      out: { 200: schema.deploymentsList },
      async handler({ query, principal, c }) {
        const rows = await listDeployments(sql, principal.workspaceId, query);
        await table.settled();
        return c.json({ resources: await Promise.all(rows.map(print)), offset: query.offset + rows.length });
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments"),
      method: "POST",
      permission: "deployments:create",
      summary: "Create a deployment, and its first revision if there is something to deploy",
      auditFields: ["name", "source"],
      body: schema.createBody,
      out: { 201: schema.deployment },
      errors: [400],
      async handler({ body, principal, c }) {
        const id = await createDeployment(deps, principal, body);
        await deps.table.refresh();
        deps.worker.wake();
        return c.json(await print(await find(principal, id)), 201);
      },
    }),
    // before /v2/deployments/:deployment_id, which would match the word as an id
    route({
      ...shared,
      ...hosted("/v2/deployments/free-count"),
      method: "GET",
      permission: "deployments:read",
      summary: "Count the workspace's deployments",
      out: { 200: z.object({ count: z.int() }) },
      handler: async ({ principal, c }) => c.json({ count: await countDeployments(sql, principal.workspaceId) }),
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments"),
      method: "DELETE",
      permission: "deployments:delete",
      summary: "Delete several deployments; 207 lists those that could not be deleted",
      query: schema.deleteManyQuery,
      out: { 200: schema.deletedMany, 207: schema.deletedMany },
      errors: [404],
      async handler({ query, principal, c }) {
        const done = await deleteMany(deps, principal.workspaceId, query.deployment_ids);
        return c.json(done, done.failed.length > 0 ? 207 : 200);
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id"),
      method: "GET",
      permission: "deployments:read",
      summary: "Get a deployment",
      params: schema.deploymentParams,
      out: { 200: schema.deployment },
      handler: async ({ params, principal, c }) => c.json(await print(await find(principal, params.deployment_id))),
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id"),
      method: "PATCH",
      permission: "deployments:update",
      summary: "Update a deployment; a change of its source or environment creates one new revision",
      params: schema.deploymentParams,
      body: schema.patchBody,
      out: { 200: schema.deployment },
      errors: [400],
      async handler({ params, body, principal, c }) {
        checkRevisionBody(deps, body);
        await sql.begin(async (tx) => {
          const row = await lockDeployment(tx, principal.workspaceId, params.deployment_id);
          if (!row) throw unknownDeployment(params.deployment_id);
          await applyChange(deps, tx, row, body, { always: false, createdBy: principal.actor.name });
        });
        deps.worker.wake();
        return c.json(await print(await find(principal, params.deployment_id)));
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id"),
      method: "DELETE",
      permission: "deployments:delete",
      summary: "Delete a deployment: its instances, database, builds, logs and records",
      params: schema.deploymentParams,
      query: schema.deleteQuery,
      out: { 204: null },
      errors: [400],
      async handler({ params, query, principal, c }) {
        const isSet = (text: string | undefined) => /^(true|1)$/i.test(text ?? "");
        const wishes = { deleteTracingProject: isSet(query.delete_tracing_project), force: isSet(query.force) };
        if (wishes.deleteTracingProject && !principal.permissions.has("projects:delete")) {
          throw forbidden("Forbidden: delete_tracing_project requires the permission projects:delete.");
        }
        await deleteDeployment(deps, principal.workspaceId, params.deployment_id, wishes);
        return c.body(null, 204);
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/deployments/:deployment_id/push-token"),
      method: "POST",
      permission: "deployments:update",
      summary: "Issue a token for pushing images",
      params: schema.deploymentParams,
      out: { 200: z.object({ token: z.string(), registry_url: z.string() }) },
      errors: [400],
      async handler({ params, principal, c }) {
        const row = await find(principal, params.deployment_id);
        if (row.source !== "internal_docker") {
          throw stateError("push token is only available for 'internal_docker' source deployments");
        }
        const { id, source, source_config: config } = row;
        checkDriver(deps, { id, source, config, references: null });
        return c.json(issuePushToken(deps, id, c));
      },
    }),
  ];
}
