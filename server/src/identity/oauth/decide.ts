import type { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { forbidden, unprocessable } from "../../base/errors.ts";
import { issuePersonalKey } from "../api-keys/issue-key.ts";
import type { OAuthClients } from "./client-document.ts";
import { isRegistered, type OAuthClient } from "./client-id.ts";
import { isSameResource, newSecret } from "./exchange-token.ts";
import type { AuthorizationRequest, decisionBody } from "./schema.ts";
import { insertGrant } from "./sql.ts";

const CODE_MS = 60_000;

/** Where tokens are valid. */
export interface Resource {
  /** Identifier of the authorization server: the public URL. */
  issuer: string;
  /** The only path at which tokens of this server are accepted. */
  path: string;
}

/** @throws 422 for a request that no registered client sends. The user must not be redirected then */
export async function readRequest(
  clients: OAuthClients,
  request: AuthorizationRequest,
  { issuer, path }: Resource,
): Promise<OAuthClient> {
  const client = await clients.find(request.client_id);
  if (!isRegistered(client, request.redirect_uri)) {
    throw unprocessable("redirect_uri: is not one with which the program has registered");
  }
  if (request.resource !== undefined && !isSameResource(request.resource, issuer + path))
    throw unprocessable(`resource: must be ${issuer}${path}`);
  return client;
}

/** Without a scope, a program asks for all. */
export const wantsWrite = ({ scope }: AuthorizationRequest): boolean =>
  scope === undefined || scope.trim() === "" || scope.split(" ").includes("write");

/**
 * Grants or denies what a client asks for, in the workspace of the request. The grant is a personal key with its
 * user's rights there, or the reading ones, that is valid at the resource only.
 * @returns where the browser has to go
 */
export async function decide(
  { sql, clients }: { sql: Sql; clients: OAuthClients },
  principal: Principal,
  body: z.output<typeof decisionBody>,
  resource: Resource,
): Promise<string> {
  const client = await readRequest(clients, body, resource);
  const target = new URL(body.redirect_uri);
  if (body.state !== undefined) target.searchParams.set("state", body.state);
  target.searchParams.set("iss", resource.issuer);
  if (!body.allow) {
    target.searchParams.set("error", "access_denied");
    return target.href;
  }
  if (principal.actor.kind !== "session") {
    throw forbidden("Forbidden: only a signed-in user can authorize a program. Sign in with a password or a provider.");
  }
  const expiresAt = new Date(Date.now() + CODE_MS);
  const { id } = await issuePersonalKey(sql, principal, {
    description: `${client.client_name} (OAuth)`,
    read_only: body.read_only || !wantsWrite(body),
    workspaces: [principal.workspaceId],
    default_workspace_id: principal.workspaceId,
    expires_at: expiresAt.toISOString(),
  });
  const code = newSecret("code");
  await sql.begin((tx) =>
    insertGrant(tx, {
      key_id: id,
      audience: resource.path,
      client_id: body.client_id,
      redirect_uri: body.redirect_uri,
      code_challenge: body.code_challenge,
      secret: code,
      expires_at: expiresAt,
    }),
  );
  target.searchParams.set("code", code);
  return target.href;
}
