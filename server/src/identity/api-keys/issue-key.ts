/**
 * Issues keys. A key never has more rights than its issuer: its role is one that the issuer may grant
 * (roles/may-grant.ts), a narrowed personal key cannot issue a wider key, and no key issues one that outlives it or
 * enters more workspaces.
 */
import type { Principal } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { forbidden, unprocessable } from "../../base/errors.ts";
import { NO_WORKSPACE } from "../grant.ts";
import { BUILT_IN_ROLES } from "../roles/built-in.ts";
import { grantableRole } from "../roles/may-grant.ts";
import { selectWorkspaceIds, selectWorkspaceIdsOfUser } from "../workspaces/sql.ts";
import { createKey, type KeyRequest, type CreatedKey } from "./create-key.ts";
import type { ApiKeyRequest } from "./schema.ts";
import { type KeyLimits, selectKeyLimits } from "./sql.ts";

/** Issues a service key for the caller's workspace. */
export async function issueWorkspaceKey(sql: Sql, principal: Principal, request: ApiKeyRequest): Promise<CreatedKey> {
  const { workspaceId } = principal;
  for (const id of [...(request.workspaces ?? []), request.default_workspace_id ?? workspaceId]) {
    if (id === workspaceId) continue;
    throw unprocessable(
      "this route creates keys to the current workspace; use /orgs/current/service-keys for other workspaces",
    );
  }
  const workspaceIds = [workspaceId];
  return createKey(sql, { ...(await serviceKey(sql, principal, request)), workspaceIds, defaultWorkspaceId: null });
}

/** Issues a service key for some workspaces of the organization, or for all of them, including future ones. */
export async function issueOrganizationKey(
  sql: Sql,
  principal: Principal,
  request: ApiKeyRequest,
): Promise<CreatedKey> {
  const workspaceIds = request.workspaces ?? null;
  const defaultWorkspaceId = request.default_workspace_id ?? null;
  const named = [...(workspaceIds ?? []), ...(defaultWorkspaceId ? [defaultWorkspaceId] : [])];
  if (named.length > 0) checkWorkspaces(named, await selectWorkspaceIds(sql, principal.organizationId));
  checkDefault(workspaceIds, defaultWorkspaceId);
  checkEntry(await keyLimits(sql, principal), workspaceIds);
  const key = await serviceKey(sql, principal, request);
  // a key that enters all workspaces may also list them
  const organizationRoleId =
    key.organizationRoleId ?? (workspaceIds === null ? BUILT_IN_ROLES.ORGANIZATION_VIEWER : null);
  return createKey(sql, { ...key, organizationRoleId, workspaceIds, defaultWorkspaceId });
}

/**
 * Issues a service key without permissions, for a program that is recognized by the key itself: routes with the access
 * rule `own`.
 */
export async function issueOwnKey(
  sql: Sql | Transaction,
  principal: Principal,
  description: string,
): Promise<CreatedKey> {
  const request = { description, read_only: false };
  return createKey(sql, {
    ...commonFields(principal, request, await keyLimits(sql, principal)),
    kind: "service",
    userId: null,
    roleId: null,
    organizationRoleId: null,
    workspaceIds: [principal.workspaceId],
    defaultWorkspaceId: null,
  });
}

type WithoutWorkspaces = Omit<KeyRequest, "workspaceIds" | "defaultWorkspaceId">;

async function serviceKey(sql: Sql, principal: Principal, request: ApiKeyRequest): Promise<WithoutWorkspaces> {
  const role = await grantableRole(sql, principal, request.role_id ?? BUILT_IN_ROLES.WORKSPACE_ADMIN, "workspace");
  const organizationRole = request.org_role_id
    ? await grantableRole(sql, principal, request.org_role_id, "organization")
    : null;
  return {
    ...commonFields(principal, request, await keyLimits(sql, principal)),
    kind: "service",
    userId: null,
    roleId: role.id,
    organizationRoleId: organizationRole?.id ?? null,
  };
}

/**
 * Issues a personal key. It has its owner's current rights at any time, in all of their workspaces unless the request
 * narrows it.
 */
export async function issuePersonalKey(sql: Sql, principal: Principal, request: ApiKeyRequest): Promise<CreatedKey> {
  const { actor, organizationId } = principal;
  if (actor.userId === null) {
    throw forbidden("Forbidden: only a signed-in user can have personal keys. Sign in, or create a service key.");
  }
  const limits = await keyLimits(sql, principal);
  if (limits?.narrowed) {
    throw forbidden("Forbidden: a key with fewer permissions than its user cannot create another key.");
  }
  if (request.org_role_id) throw unprocessable("org_role_id: a personal key has its user's role");
  const role = request.role_id ? await grantableRole(sql, principal, request.role_id, "workspace") : null;

  const workspaceIds = request.workspaces ?? null;
  const current = principal.workspaceId === NO_WORKSPACE ? null : principal.workspaceId;
  const defaultWorkspaceId = request.default_workspace_id ?? (workspaceIds === null ? current : null);
  const named = [...(workspaceIds ?? []), ...(defaultWorkspaceId ? [defaultWorkspaceId] : [])];
  if (named.length > 0) checkWorkspaces(named, await selectWorkspaceIdsOfUser(sql, organizationId, actor.userId));
  checkDefault(workspaceIds, defaultWorkspaceId);
  return createKey(sql, {
    ...commonFields(principal, request, limits),
    kind: "personal",
    userId: actor.userId,
    roleId: role?.id ?? null,
    organizationRoleId: null,
    workspaceIds,
    defaultWorkspaceId,
  });
}

/** Returns the limits of the calling key; null for sessions and for callers that need no key. */
async function keyLimits(sql: Sql | Transaction, { actor }: Principal): Promise<KeyLimits | null> {
  if (actor.kind !== "api_key" && actor.kind !== "service_key") return null;
  const limits = await selectKeyLimits(sql, actor.id);
  if (!limits) throw forbidden("Forbidden: this key cannot create another key.");
  return limits;
}

type CommonRequest = Pick<ApiKeyRequest, "description" | "read_only"> & Partial<Pick<ApiKeyRequest, "expires_at">>;

const commonFields = ({ organizationId }: Principal, request: CommonRequest, limits: KeyLimits | null) => ({
  organizationId,
  description: request.description,
  readOnly: request.read_only,
  expiresAt: parseExpiry(request, limits?.expires_at ?? null),
});

/** Returns the expiry of a new key. `latest` is the expiry of the calling key, and the default. */
function parseExpiry({ expires_at: text }: Pick<CommonRequest, "expires_at">, latest: Date | null): Date | null {
  if (!text) return latest;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw unprocessable("expires_at: invalid date");
  if (latest && date > latest) {
    throw forbidden(
      `Forbidden: a key cannot create one that outlives it. expires_at must be ${latest.toISOString()} or earlier.`,
    );
  }
  return date;
}

function checkEntry(limits: KeyLimits | null, workspaceIds: string[] | null): void {
  const own = limits?.workspace_ids;
  if (!own || workspaceIds?.every((id) => own.includes(id))) return;
  throw forbidden(
    "Forbidden: a key can only create keys to workspaces that it may enter itself. Name them in workspaces.",
  );
}

function checkWorkspaces(named: string[], known: string[]): void {
  const unknown = named.find((id) => !known.includes(id));
  if (unknown) throw unprocessable(`there is no workspace ${unknown}`);
}

function checkDefault(workspaceIds: string[] | null, defaultWorkspaceId: string | null): void {
  if (workspaceIds === null || defaultWorkspaceId === null || workspaceIds.includes(defaultWorkspaceId)) return;
  throw unprocessable("default_workspace_id: must be one of the key's workspaces");
}
