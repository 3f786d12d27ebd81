import { randomBytes } from "node:crypto";

import { type AppError, conflict, notFound } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { OutboundError } from "../../base/outbound/outbound-error.ts";
import { invalid } from "../deployments/validate.ts";
import type { ControlDeps } from "../deps.ts";
import { apiAddress } from "./list-repositories.ts";
import type { CreateBody, Kind, PatchBody } from "./schema.ts";
import * as rows from "./sql.ts";

export const unknownIntegration = (id: string): AppError => notFound(`Integration ID ${id} not found.`);
const nameConflict = (name: string) => conflict(`An integration with the name '${name}' already exists.`);

type Deps = Pick<ControlDeps, "sql" | "secrets" | "outbound">;

const HOSTS: Partial<Record<Kind, string>> = { github: "https://github.com", gitlab: "https://gitlab.com" };
const USERNAMES: Record<Kind, string> = { github: "x-access-token", gitlab: "oauth2", gitea: "oauth2", other: "git" };

/** Creates an integration. @returns it, with the secret of its webhook */
export async function createIntegration(
  deps: Deps,
  tenantId: string,
  body: CreateBody,
): Promise<{ row: rows.IntegrationRow; webhookSecret: string }> {
  const { sql, secrets } = deps;
  const url = body.url ?? HOSTS[body.kind];
  if (url === undefined) throw invalid(["url"], `is required for the kind ${body.kind}`);
  const integration = {
    id: uuid7(),
    tenant_id: tenantId,
    name: body.name,
    kind: body.kind,
    url: checkAddress(deps, "url", url),
    api_url: body.api_url == null ? null : checkAddress(deps, "api_url", body.api_url),
    username: body.username ?? USERNAMES[body.kind],
    has_token: body.token != null,
  };
  const webhookSecret = body.webhook_secret ?? randomBytes(24).toString("base64url");
  return sql.begin(async (tx) => {
    const row = await rows.insertIntegration(tx, integration);
    if (!row) throw nameConflict(body.name);
    const owner = { workspaceId: tenantId };
    if (body.token != null) await secrets.put({ ...rows.tokenSecretKey(row.id), ...owner }, body.token, tx);
    await secrets.put({ ...rows.webhookSecretKey(row.id), ...owner }, webhookSecret, tx);
    return { row, webhookSecret };
  });
}

/**
 * Changes an integration; null and missing fields remain unchanged. The URL of the repositories is immutable, as a
 * token is meant for one host. Another host for the API requires the token again, because otherwise a user who may
 * change the URL could redirect the stored token to themselves.
 */
export async function changeIntegration(
  deps: Deps,
  tenantId: string,
  id: string,
  body: PatchBody,
): Promise<rows.IntegrationRow> {
  const { sql, secrets } = deps;
  const apiUrl = body.api_url == null ? null : checkAddress(deps, "api_url", body.api_url);
  return sql.begin(async (tx) => {
    const row = await rows.lockIntegration(tx, tenantId, id);
    if (!row) throw unknownIntegration(id);
    if (body.name != null && (await rows.isNameTaken(tx, tenantId, id, body.name))) throw nameConflict(body.name);
    if (apiUrl !== null && row.has_token && body.token == null && isElsewhere(row, apiUrl)) {
      throw invalid(["token"], "is required when api_url names another host: the stored token is for the old one");
    }
    const changed = {
      ...row,
      name: body.name ?? row.name,
      api_url: apiUrl ?? row.api_url,
      username: body.username ?? row.username,
      has_token: row.has_token || body.token != null,
    };
    await rows.updateIntegration(tx, changed);
    const owner = { workspaceId: tenantId };
    if (body.token != null) await secrets.put({ ...rows.tokenSecretKey(id), ...owner }, body.token, tx);
    if (body.webhook_secret != null)
      await secrets.put({ ...rows.webhookSecretKey(id), ...owner }, body.webhook_secret, tx);
    return (await rows.lockIntegration(tx, tenantId, id))!;
  });
}

/** Deletes an integration. 409 while a deployment uses it. */
export async function deleteIntegration(deps: Deps, tenantId: string, id: string): Promise<void> {
  await deps.sql.begin(async (tx) => {
    if (!(await rows.lockIntegration(tx, tenantId, id))) throw unknownIntegration(id);
    const users = await rows.selectUsers(tx, tenantId, id);
    if (users.length > 0) {
      throw conflict(`Deployments use this integration: ${users.map((user) => user.name).join(", ")}.`);
    }
    await deps.secrets.delete(rows.tokenSecretKey(id), tx);
    await deps.secrets.delete(rows.webhookSecretKey(id), tx);
    await rows.deleteIntegrationRow(tx, id);
  });
}

function isElsewhere(row: rows.IntegrationRow, apiUrl: string): boolean {
  const before = apiAddress(row);
  return before === undefined || new URL(before).origin !== new URL(apiUrl).origin;
}

function checkAddress({ outbound }: Deps, field: string, text: string): string {
  try {
    const url = outbound.check(text);
    if (url.search !== "" || url.hash !== "") throw invalid([field], "must not contain a query or a fragment");
    return url.href.replace(/\/+$/, "");
  } catch (error) {
    if (error instanceof OutboundError) throw invalid([field], error.message);
    throw error;
  }
}
