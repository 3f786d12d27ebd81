import { isReading, type Permission } from "../base/auth/permissions.ts";
import type { Actor, Plan, Principal } from "../base/auth/principal.ts";
import { permissionsOf, type RoleRights } from "./roles/built-in.ts";

/** Where no workspace is meant: routes of the organisation. No workspace has this id. */
export const NO_WORKSPACE = "00000000-0000-0000-0000-000000000000";

/** What a key or a session amounts to in the workspace that was asked for. */
export interface Grant {
  /** For `last_used_at`; null for sessions. */
  keyId: string | null;
  /** Milliseconds since the epoch, Infinity for ever. */
  expiresAt: number;
  /** When memory must not be trusted any more, whatever was announced. Milliseconds of `performance.now()`. */
  askAgainAt?: number;
  /** In the workspace; or why there is none. */
  inWorkspace: Principal | "unnamed" | "elsewhere";
  /** For routes of the organisation, which need no workspace; not when one was named that may not be entered. */
  inOrganization: Principal | "elsewhere";
}

/** As the statements of api-keys/sql.ts and members/sql.ts tell it. */
export interface GrantRow {
  organization_id: string;
  /** Whether it is clear which workspace is meant, entered or not. */
  names_workspace: boolean;
  /** Null when none is meant, or one that may not be entered. */
  workspace_id: string | null;
  plan: Plan | null;
  /** Of the person, in the organisation and in the workspace. */
  organization_role: RoleRights | null;
  workspace_role: RoleRights | null;
  /** Of the key. */
  key_organization_role: RoleRights | null;
  key_role: RoleRights | null;
  read_only: boolean;
}

export function toGrant(row: GrantRow, actor: Actor, keyId: string | null, expiresAt: number): Grant {
  const base = { actor, organizationId: row.organization_id };
  const isMember = actor.userId === null || row.organization_role !== null;
  if (!isMember) return { keyId, expiresAt, inWorkspace: "elsewhere", inOrganization: "elsewhere" };

  const rights = actor.userId === null ? rightsOfProgram(row) : rightsOfPerson(row);
  const kept = (permissions: Permission[]): Set<Permission> =>
    new Set(row.read_only ? permissions.filter(isReading) : permissions);

  const { workspace_id: workspaceId, plan } = row;
  const entered = workspaceId !== null && plan !== null && rights.inWorkspace !== null;
  const inWorkspace: Grant["inWorkspace"] = entered
    ? { ...base, workspaceId, plan, permissions: kept([...rights.inOrganization, ...rights.inWorkspace!]) }
    : row.names_workspace
      ? "elsewhere"
      : "unnamed";
  if (inWorkspace !== "unnamed") return { keyId, expiresAt, inWorkspace, inOrganization: inWorkspace };
  // which workspaces there are for somebody is theirs to know, before they are in one
  const permissions = kept([...rights.inOrganization, "workspaces:read"]);
  // outside of any workspace nothing depends on a plan
  const inOrganization: Principal = { ...base, workspaceId: NO_WORKSPACE, plan: "developer", permissions };
  return { keyId, expiresAt, inWorkspace, inOrganization };
}

interface Rights {
  inOrganization: readonly Permission[];
  /** Null: not a member of it. */
  inWorkspace: readonly Permission[] | null;
}

/** A service key has the roles that it was given. */
function rightsOfProgram(row: GrantRow): Rights {
  return { inOrganization: permissionsOf(row.key_organization_role), inWorkspace: permissionsOf(row.key_role) };
}

/** A session has the person's roles; a personal key may be narrowed to what a role of its own has too. */
function rightsOfPerson(row: GrantRow): Rights {
  const ceiling = row.key_role && new Set(permissionsOf(row.key_role));
  const below = (permissions: readonly Permission[]) =>
    ceiling ? permissions.filter((permission) => ceiling.has(permission)) : permissions;
  const inOrganization = permissionsOf(row.organization_role);
  // administrators of the organisation are at home in all of its workspaces
  const atHome = row.workspace_role !== null || inOrganization.includes("organization:manage");
  return {
    inOrganization: below(inOrganization),
    inWorkspace: atHome ? below(permissionsOf(row.workspace_role)) : null,
  };
}
