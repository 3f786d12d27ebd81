import type { Principal } from "../../base/auth/principal.ts";
import { route, type Route } from "../../base/http/route.ts";
import { findKeys } from "../authenticate.ts";
import type { IdentityDeps } from "../deps.ts";
import type { Finding } from "../identity-cache.ts";
import { IdentityChanges } from "./identity-changes.ts";
import * as schema from "./schema.ts";

const shared = { tag: "Key verification", permission: "workspaces:read" } as const;

/** Routes for servers that store no keys, such as deployments: HEDDLE_AUTH_URL. */
export function keyVerificationRoutes({ sql }: IdentityDeps): Route[] {
  const changes = new IdentityChanges(sql);
  return [
    route({
      ...shared,
      method: "GET",
      path: "/internal/auth/self",
      summary: "Get the workspace of the calling server's key",
      out: { 200: schema.selfAnswer },
      handler: ({ c, principal: { organizationId, workspaceId, plan } }) =>
        c.json({ organization_id: organizationId, workspace_id: workspaceId, plan }),
    }),
    route({
      ...shared,
      method: "POST",
      path: "/internal/auth/keys",
      audit: "none",
      summary: "Get the permissions of keys in the calling server's workspace",
      body: schema.verifyBody,
      out: { 200: schema.verifyAnswer },
      async handler({ body, c, principal }) {
        const keys = body.keys.map((key_hash) => ({ key_hash, workspace_id: principal.workspaceId }));
        const found = await findKeys(sql, keys);
        return c.json({ version: found[0]!.version, verdicts: found.map(toWire) });
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/internal/auth/changes",
      summary: "Wait until the permissions of keys may have changed",
      query: schema.changesQuery,
      out: { 200: schema.changesAnswer },
      async handler({ query, c }) {
        return c.json({ version: await changes.next(query.version, query.wait * 1000, c.req.raw.signal) });
      },
    }),
  ];
}

function toWire({ verdict }: Finding): schema.VerdictWire {
  if (typeof verdict === "string") return { status: verdict };
  const { inWorkspace, expiresAt, audience } = verdict;
  // tokens for a resource of this server are no credentials elsewhere
  if (audience != null) return { status: "unknown" };
  if (typeof inWorkspace === "string") return { status: "elsewhere" };
  const expires_at = Number.isFinite(expiresAt) ? new Date(expiresAt).toISOString() : null;
  return { status: "known", expires_at, principal: serializePrincipal(inWorkspace) };
}

function serializePrincipal({
  actor,
  organizationId,
  workspaceId,
  plan,
  permissions,
}: Principal): schema.PrincipalWire {
  const { kind, id, name, userId } = actor as Principal["actor"] & { kind: "api_key" | "service_key" };
  return {
    actor: { kind, id, name, user_id: userId },
    organization_id: organizationId,
    workspace_id: workspaceId,
    plan,
    permissions: [...permissions],
  };
}
