import { ALL_PERMISSIONS, type Permission } from "../../base/auth/permissions.ts";
import type { Principal } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { rolePermissions } from "../roles/built-in.ts";
import { selectVisibleWorkspaces, type VisibleWorkspaceRow, type WorkspaceViewer } from "./sql.ts";

export function toViewer(
  { actor }: Principal,
  organizationId: string | null,
  includeDeleted: boolean,
): WorkspaceViewer {
  const isKey = actor.kind === "api_key" || actor.kind === "service_key";
  return { keyId: isKey ? actor.id : null, userId: actor.userId, organizationId, includeDeleted };
}

/**
 * Lists the workspaces of the caller's organization in which the caller has these permissions, which must be reading
 * ones. A key's role narrows them alike in all workspaces, so the caller needs them in the request's workspace too.
 */
export async function listPermittedWorkspaces(
  sql: Sql,
  principal: Principal,
  needed: readonly Permission[],
): Promise<VisibleWorkspaceRow[]> {
  if (!needed.every((permission) => principal.permissions.has(permission))) return [];
  const rows = await selectVisibleWorkspaces(sql, toViewer(principal, principal.organizationId, false));
  return rows.filter(({ rights }) => {
    const permissions = rights ? rolePermissions(rights) : ALL_PERMISSIONS;
    return needed.every((permission) => permissions.includes(permission));
  });
}
