import type { Context } from "hono";
import { z } from "zod";

import type { Sql } from "../../base/db/connect.ts";
import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { CreatedKey } from "./create-key.ts";
import type { IdentityDeps } from "../deps.ts";
import { issueOrganizationKey, issuePersonalKey, issueWorkspaceKey } from "./issue-key.ts";
import * as schema from "./schema.ts";
import { type KeyRow, revokeKey, selectKey, selectKeys } from "./sql.ts";

const shared = { tag: "Keys" } as const;
const ofOrganization = { ...shared, scope: "organization" } as const;

export function apiKeyRoutes(deps: IdentityDeps): Route[] {
  return [
    // before /api-key/:api_key_id, which would match "current" as an id
    ...personalKeyRoutes(deps, "/api-key/current"),
    ...personalKeyRoutes(deps, "/orgs/current/personal-access-tokens"),
    ...workspaceKeyRoutes(deps),
    ...organizationKeyRoutes(deps),
  ];
}

function workspaceKeyRoutes({ sql }: IdentityDeps): Route[] {
  return [
    route({
      ...shared,
      ...v1("/api-key"),
      method: "GET",
      permission: "workspaces:read",
      summary: "List service keys to the current workspace",
      out: { 200: z.array(schema.apiKey) },
      handler: async ({ principal: { organizationId, workspaceId }, c }) =>
        c.json(await selectKeys(sql, { organizationId, workspaceId })),
    }),
    route({
      ...shared,
      ...v1("/api-key"),
      method: "POST",
      permission: "workspaces:manage",
      summary: "Create a service key to the current workspace",
      body: schema.apiKeyRequest,
      out: { 200: schema.newApiKey },
      handler: async ({ body, principal, c }) =>
        createdKeyResponse(c, sql, await issueWorkspaceKey(sql, principal, body)),
    }),
    route({
      ...shared,
      ...v1("/api-key/:api_key_id"),
      method: "DELETE",
      permission: "workspaces:manage",
      summary: "Revoke a service key to the current workspace",
      params: schema.apiKeyId,
      out: { 200: schema.apiKey },
      errors: [404],
      handler: async ({ params, principal: { organizationId, workspaceId }, c }) =>
        c.json(found(await revokeKey(sql, params.api_key_id, { organizationId, workspaceId }))),
    }),
  ];
}

function organizationKeyRoutes({ sql }: IdentityDeps): Route[] {
  return [
    route({
      ...ofOrganization,
      ...v1("/orgs/current/service-keys"),
      method: "GET",
      permission: "organization:read",
      summary: "List all service keys of the organization",
      out: { 200: z.array(schema.apiKey) },
      handler: async ({ principal: { organizationId }, c }) => c.json(await selectKeys(sql, { organizationId })),
    }),
    route({
      ...ofOrganization,
      ...v1("/orgs/current/service-keys"),
      method: "POST",
      permission: "organization:manage",
      summary: "Create a service key to some or all workspaces",
      body: schema.apiKeyRequest,
      out: { 200: schema.newApiKey },
      handler: async ({ body, principal, c }) =>
        createdKeyResponse(c, sql, await issueOrganizationKey(sql, principal, body)),
    }),
    route({
      ...ofOrganization,
      ...v1("/orgs/current/service-keys/:api_key_id"),
      method: "DELETE",
      permission: "organization:manage",
      summary: "Revoke a service key of the organization",
      params: schema.apiKeyId,
      out: { 200: schema.apiKey },
      errors: [404],
      handler: async ({ params, principal: { organizationId }, c }) =>
        c.json(found(await revokeKey(sql, params.api_key_id, { organizationId }))),
    }),
  ];
}

/** Owner id for callers without a person (programs, loopback callers), which have no personal keys. */
const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** Serves two paths; the contract deprecates the first. */
function personalKeyRoutes({ sql }: IdentityDeps, path: `/${string}`): Route[] {
  return [
    route({
      ...ofOrganization,
      ...v1(path),
      method: "GET",
      permission: "workspaces:read",
      summary: "List the caller's personal keys",
      out: { 200: z.array(schema.apiKey) },
      handler: async ({ principal: { organizationId, actor }, c }) =>
        c.json(await selectKeys(sql, { organizationId, userId: actor.userId ?? NIL_UUID })),
    }),
    route({
      ...ofOrganization,
      ...v1(path),
      method: "POST",
      permission: "organization:pats:create",
      summary: "Create a personal key",
      body: schema.apiKeyRequest,
      out: { 200: schema.newApiKey },
      handler: async ({ body, principal, c }) =>
        createdKeyResponse(c, sql, await issuePersonalKey(sql, principal, body)),
    }),
    route({
      ...ofOrganization,
      ...v1(`${path}/:pat_id`),
      method: "DELETE",
      permission: "organization:pats:create",
      summary: "Revoke one of the caller's personal keys",
      params: schema.personalKeyId,
      out: { 200: schema.apiKey },
      errors: [404],
      handler: async ({ params, principal: { organizationId, actor }, c }) =>
        c.json(found(await revokeKey(sql, params.pat_id, { organizationId, userId: actor.userId ?? NIL_UUID }))),
    }),
  ];
}

async function createdKeyResponse(c: Context, sql: Sql, { id, key }: CreatedKey): Promise<Response> {
  c.header("Cache-Control", "no-store");
  return c.json({ ...(await selectKey(sql, id)), key });
}

function found(key: KeyRow | undefined): KeyRow {
  if (!key) throw notFound("API key not found");
  return key;
}
