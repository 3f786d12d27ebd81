import type { Sql, Transaction } from "../base/db/connect.ts";
import { uuid7 } from "../base/ids.ts";
import { createKey } from "./api-keys/create-key.ts";
import { insertOrganization } from "./organizations/sql.ts";
import { BUILT_IN_ROLES } from "./roles/built-in.ts";
import { unknownWorkspace } from "./workspaces/claim-database.ts";
import { insertWorkspace, selectDefaultWorkspace, selectWorkspace, type WorkspaceRow } from "./workspaces/sql.ts";

/**
 * Advisory lock held during the check, so that only one of several servers starting together creates the key.
 * Arbitrary, but unique to this purpose.
 */
const LOCK = 7_236_519;

export interface FirstStart {
  /** Workspace of servers that have no workspace configured. */
  workspace: WorkspaceRow;
  /** Key with all permissions, if this call created it. It cannot be shown again. */
  key: string | null;
}

/**
 * Ensures that there is an organization with a workspace and, if `withKey`, a key to sign in with.
 * @param workspaceId id for a newly created first workspace, if the operator chose one
 */
export async function ensureWorkspace(
  sql: Sql,
  workspaceId?: string,
  { withKey = true }: { withKey?: boolean } = {},
): Promise<FirstStart> {
  const known = await selectDefaultWorkspace(sql);
  if (known) return { workspace: known, key: null };
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK})`;
    const existing = await selectDefaultWorkspace(tx);
    return existing ? { workspace: existing, key: null } : makeFirst(tx, workspaceId, withKey);
  });
}

async function makeFirst(tx: Transaction, workspaceId: string | undefined, withKey: boolean): Promise<FirstStart> {
  const organization = await insertOrganization(tx, { id: uuid7(), display_name: "Default" });
  const workspace = await insertWorkspace(tx, {
    id: workspaceId ?? uuid7(),
    organization_id: organization.id,
    display_name: "Default",
    tenant_handle: null,
    plan: "enterprise",
    is_default: true,
  });
  if (!workspace) throw new Error(`the workspace ${workspaceId} exists, but there is no default workspace`);
  if (!withKey) return { workspace, key: null };
  const { key } = await createKey(tx, {
    organizationId: organization.id,
    kind: "service",
    userId: null,
    description: "Initial admin key",
    readOnly: false,
    expiresAt: null,
    workspaceIds: null,
    defaultWorkspaceId: workspace.id,
    roleId: BUILT_IN_ROLES.WORKSPACE_ADMIN,
    organizationRoleId: BUILT_IN_ROLES.ORGANIZATION_ADMIN,
  });
  return { workspace, key };
}

/** Returns the workspace that this server serves. Throws when the operator named one that does not exist. */
export async function servedWorkspace(
  sql: Sql,
  workspaceId: string | undefined,
  first: FirstStart,
): Promise<WorkspaceRow> {
  if (workspaceId === undefined) return first.workspace;
  const workspace = await selectWorkspace(sql, workspaceId);
  if (workspace) return workspace;
  throw unknownWorkspace(workspaceId, first.workspace);
}
