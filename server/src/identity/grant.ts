import { isReading, type Permission } from "../base/auth/permissions.ts";
import type { Actor, Plan, Principal } from "../base/auth/principal.ts";
import { rolePermissions, type RoleRights } from "./roles/built-in.ts";

/** Placeholder for routes of the organization, which have no workspace. No workspace has this id. */
export const NO_WORKSPACE = "00000000-0000-0000-0000-000000000000";

/** Rights that a key or a session grants in the requested workspace. */
export interface Grant {
  /** Key whose `last_used_at` is updated; null for sessions. */
  keyId: string | null;
  /** Milliseconds since the epoch; Infinity if it never expires. */
  expiresAt: number;
  /** The only path at which the key is valid; null: all. */
  audience?: string | null;
  /**
   * Time from which the cached grant must not be used, even without an announced change. Milliseconds of
   * `performance.now()`.
   */
  askAgainAt?: number;
  /** Principal in the workspace, or the reason why there is none. */
  inWorkspace: Principal | "unnamed" | "elsewhere";
  /**
   * Principal for routes of the organization, which need no workspace. "elsewhere" when the request names a workspace
   * that the caller may not enter.
   */
  inOrganization: Principal | "elsewhere";
}

/** Row as returned by the statements of api-keys/sql.ts and members/sql.ts. */
export interface GrantRow {
  organization_id: string;
  /** Whether the request identifies a workspace, accessible or not. */
  names_workspace: boolean;
  /** Null when no workspace is identified, or when the caller may not enter it. */
  workspace_id: string | null;
  plan: Plan | null;
  /** Roles of the person, in the organization and in the workspace. */
  organization_role: RoleRights | null;
  workspace_role: RoleRights | null;
  /** Roles of the key. */
  key_organization_role: RoleRights | null;
  key_role: RoleRights | null;
  read_only: boolean;
}

export function toGrant(row: GrantRow, actor: Actor, keyId: string | null, expiresAt: number): Grant {
  const base = { actor, organizationId: row.organization_id };
  const isMember = actor.userId === null || row.organization_role !== null;
  if (!isMember) return { keyId, expiresAt, inWorkspace: "elsewhere", inOrganization: "elsewhere" };

  const rights = actor.userId === null ? rightsOfProgram(row) : rightsOfPerson(row);
  const effective = (permissions: Permission[]): Set<Permission> =>
    new Set(row.read_only ? permissions.filter(isReading) : permissions);

  const { workspace_id: workspaceId, plan } = row;
  const entered = workspaceId !== null && plan !== null && rights.inWorkspace !== null;
  const inWorkspace: Grant["inWorkspace"] = entered
    ? { ...base, workspaceId, plan, permissions: effective([...rights.inOrganization, ...rights.inWorkspace!]) }
    : row.names_workspace
      ? "elsewhere"
      : "unnamed";
  if (inWorkspace !== "unnamed") return { keyId, expiresAt, inWorkspace, inOrganization: inWorkspace };
  // callers may list the workspaces they can enter before they enter one
  const permissions = effective([...rights.inOrganization, "workspaces:read"]);
  // without a workspace nothing depends on a plan
  const inOrganization: Principal = { ...base, workspaceId: NO_WORKSPACE, plan: "developer", permissions };
  return { keyId, expiresAt, inWorkspace, inOrganization };
}

interface Rights {
  inOrganization: readonly Permission[];
  /** Null: not a member of the workspace. */
  inWorkspace: readonly Permission[] | null;
}

/** Returns the rights of a service key: those of the roles assigned to it. */
function rightsOfProgram(row: GrantRow): Rights {
  return { inOrganization: rolePermissions(row.key_organization_role), inWorkspace: rolePermissions(row.key_role) };
}

/** Returns the rights of a session (the person's roles) or of a personal key, which its own role may narrow. */
function rightsOfPerson(row: GrantRow): Rights {
  const ceiling = row.key_role && new Set(rolePermissions(row.key_role));
  const below = (permissions: readonly Permission[]) =>
    ceiling ? permissions.filter((permission) => ceiling.has(permission)) : permissions;
  const inOrganization = rolePermissions(row.organization_role);
  // organization administrators have access to all of its workspaces
  const atHome = row.workspace_role !== null || inOrganization.includes("organization:manage");
  return {
    inOrganization: below(inOrganization),
    inWorkspace: atHome ? below(rolePermissions(row.workspace_role)) : null,
  };
}
