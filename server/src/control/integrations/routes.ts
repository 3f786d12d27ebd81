import type { Context } from "hono";
import { z } from "zod";

import { route, type Route } from "../../base/http/route.ts";
import { hosted } from "../api-host.ts";
import type { ControlDeps } from "../deps.ts";
import { baseUrl } from "../public-url.ts";
import { changeIntegration, createIntegration, deleteIntegration, unknownIntegration } from "./change-integration.ts";
import { listRepositories } from "./list-repositories.ts";
import * as schema from "./schema.ts";
import { findIntegration, type IntegrationRow, listIntegrations, tokenSecretKey } from "./sql.ts";

const shared = { tag: "Integrations", errorFamily: "validation" } as const;

/** Plain lists have no pages. */
const MOST = 1000;

/**
 * Integrations with Git hosts. Reading endpoints follow the contract; creating ones is ours, with tokens instead of an
 * app.
 */
export function integrationRoutes(deps: ControlDeps): Route[] {
  const { sql } = deps;

  const print = (row: IntegrationRow, c: Context) => ({
    id: row.id,
    installation_id: Number(row.installation_id),
    name: row.name,
    kind: row.kind,
    url: row.url,
    api_url: row.api_url,
    username: row.username,
    has_token: row.has_token,
    webhook_url: `${baseUrl(deps, c)}/webhooks/${row.kind === "gitlab" ? "gitlab" : "github"}/${row.id}`,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  });

  return [
    route({
      ...shared,
      ...hosted("/v1/integrations/github/install", "/v1/integrations/forge/github/install"),
      method: "GET",
      permission: "deployments:read",
      summary: "List the workspace's integrations",
      out: { 200: z.array(schema.githubIntegration) },
      async handler({ principal, c }) {
        const rows = await listIntegrations(sql, principal.workspaceId, { limit: MOST, offset: 0 });
        return c.json(
          rows.map(({ id, installation_id: number, name }) => ({ id, installation_id: Number(number), name })),
        );
      },
    }),
    route({
      ...shared,
      ...hosted("/v1/integrations/github/:integration_id/repos", "/v1/integrations/forge/github/:integration_id/repos"),
      method: "GET",
      permission: "deployments:read",
      summary: "List the repositories that an integration's token can read",
      params: schema.integrationParams,
      out: { 200: z.array(schema.githubRepository) },
      errors: [400, 502],
      async handler({ params, principal, c }) {
        const row = await findIntegration(sql, principal.workspaceId, params.integration_id);
        if (!row) throw unknownIntegration(params.integration_id);
        const token = row.has_token ? await deps.secrets.get(tokenSecretKey(row.id)) : null;
        return c.json(await listRepositories(deps.outbound, row, token));
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/integrations/github/installation-link"),
      method: "POST",
      permission: "deployments:read",
      audit: "none",
      summary:
        "Get the page that explains how to create an integration: with a token and a POST request, not by " +
        "installing an app",
      out: { 200: schema.installationLink },
      handler: ({ c }) => c.json({ install_url: `${baseUrl(deps, c)}/docs#integrations`, oauth_reuse_url: null }),
    }),
    route({
      ...shared,
      ...hosted("/v2/integrations/git"),
      method: "GET",
      permission: "deployments:read",
      summary: "List integrations, the newest first",
      query: schema.listQuery,
      out: { 200: schema.integrationsList },
      async handler({ query, principal, c }) {
        const rows = await listIntegrations(sql, principal.workspaceId, query);
        return c.json({ resources: rows.map((row) => print(row, c)), offset: query.offset + rows.length });
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/integrations/git"),
      method: "POST",
      permission: "workspaces:manage",
      summary: "Create an integration: a token for the repositories of a Git host, and the secret of its webhooks",
      auditFields: ["name", "kind", "url"],
      body: schema.createBody,
      out: { 201: schema.newIntegration },
      errors: [409],
      async handler({ body, principal, c }) {
        const { row, webhookSecret } = await createIntegration(deps, principal.workspaceId, body);
        return c.json({ ...print(row, c), webhook_secret: webhookSecret }, 201);
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/integrations/git/:integration_id"),
      method: "GET",
      permission: "deployments:read",
      summary: "Get an integration",
      params: schema.integrationParams,
      out: { 200: schema.integration },
      async handler({ params, principal, c }) {
        const row = await findIntegration(sql, principal.workspaceId, params.integration_id);
        if (!row) throw unknownIntegration(params.integration_id);
        return c.json(print(row, c));
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/integrations/git/:integration_id"),
      method: "PATCH",
      permission: "workspaces:manage",
      summary: "Update an integration: its name, token or webhook secret",
      auditFields: ["name"],
      params: schema.integrationParams,
      body: schema.patchBody,
      out: { 200: schema.integration },
      errors: [409],
      async handler({ params, body, principal, c }) {
        return c.json(print(await changeIntegration(deps, principal.workspaceId, params.integration_id, body), c));
      },
    }),
    route({
      ...shared,
      ...hosted("/v2/integrations/git/:integration_id"),
      method: "DELETE",
      permission: "workspaces:manage",
      summary: "Delete an integration that no deployment uses",
      params: schema.integrationParams,
      out: { 204: null },
      errors: [409],
      async handler({ params, principal, c }) {
        await deleteIntegration(deps, principal.workspaceId, params.integration_id);
        return c.body(null, 204);
      },
    }),
  ];
}
