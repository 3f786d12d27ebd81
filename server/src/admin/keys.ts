import type { Sql } from "../base/db/connect.ts";
import { isUuid } from "../base/ids.ts";
import { createKey, type CreatedKey } from "../identity/api-keys/create-key.ts";
import { looksLikeKey, hashKey } from "../identity/api-keys/key-text.ts";
import { type KeyOverviewRow, revokeAnyKey, selectAllKeys } from "../identity/api-keys/operator-sql.ts";
import { ensureWorkspace } from "../identity/first-start.ts";
import { type BuiltInRole, BUILT_IN_ROLES } from "../identity/roles/built-in.ts";
import { selectWorkspace, type WorkspaceRow } from "../identity/workspaces/sql.ts";
import { recordCommand } from "./record-command.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

const KEY_ROLES = {
  admin: "WORKSPACE_ADMIN",
  editor: "WORKSPACE_USER",
  viewer: "WORKSPACE_VIEWER",
} as const satisfies Record<string, BuiltInRole>;

export interface KeyParams {
  description: string;
  role: keyof typeof KEY_ROLES;
  readOnly: boolean;
  expiresAt: Date | null;
  /** Workspace of the key; the default one when undefined. */
  workspaceId: string | undefined;
  /** Grants access to the organization and all of its workspaces. */
  ofOrganization: boolean;
}

export interface NewKey extends CreatedKey {
  workspace: { id: string; display_name: string };
}

/** Creates a key, and the workspace too on a database that no server has used yet. */
export function createKeyFor(location: DataLocation, wish: KeyParams): Promise<NewKey> {
  return withDatabase(location, async ({ sql, log }) => {
    const workspace = await findWorkspace(sql, wish.workspaceId);
    const created = await createKey(sql, {
      organizationId: workspace.organization_id,
      kind: "service",
      userId: null,
      description: wish.description,
      readOnly: wish.readOnly,
      expiresAt: wish.expiresAt,
      workspaceIds: wish.ofOrganization ? null : [workspace.id],
      defaultWorkspaceId: wish.ofOrganization ? workspace.id : null,
      roleId: BUILT_IN_ROLES[KEY_ROLES[wish.role]],
      organizationRoleId: wish.ofOrganization ? toOrganizationRole(wish.role) : null,
    });
    const scope = { organizationId: workspace.organization_id, workspaceId: workspace.id };
    await recordCommand(
      sql,
      log,
      "heddle keys create",
      { id: created.id, description: wish.description },
      { of: scope, location },
    );
    return { ...created, workspace };
  });
}

const toOrganizationRole = (role: KeyParams["role"]): string =>
  role === "admin" ? BUILT_IN_ROLES.ORGANIZATION_ADMIN : BUILT_IN_ROLES.ORGANIZATION_VIEWER;

export const listKeys = (location: DataLocation, options: { withRevoked: boolean }): Promise<KeyOverviewRow[]> =>
  withDatabase(location, ({ sql }) => selectAllKeys(sql, options.withRevoked));

/** Revokes a key by id or by its text. @returns undefined when it does not exist or was revoked before */
export function revoke(
  location: DataLocation,
  idOrKey: string,
): Promise<{ id: string; description: string } | undefined> {
  return withDatabase(location, async ({ sql, log }) => {
    const selector = isUuid(idOrKey)
      ? { id: idOrKey.toLowerCase(), keyHash: null }
      : { id: null, keyHash: looksLikeKey(idOrKey) ? hashKey(idOrKey) : "" };
    const revoked = await revokeAnyKey(sql, selector);
    if (!revoked) return undefined;
    const scope = { organizationId: revoked.organization_id, workspaceId: "" };
    await recordCommand(
      sql,
      log,
      "heddle keys revoke",
      { id: revoked.id, description: revoked.description },
      { of: scope, location },
    );
    return revoked;
  });
}

async function findWorkspace(sql: Sql, id: string | undefined): Promise<WorkspaceRow> {
  if (id === undefined) return (await ensureWorkspace(sql, undefined, { withKey: false })).workspace;
  const workspace = isUuid(id) ? await selectWorkspace(sql, id) : undefined;
  if (workspace) return workspace;
  throw new Error(`There is no workspace ${id}. To list workspaces: heddle workspaces list`);
}
