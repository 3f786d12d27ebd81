import { ALL_PERMISSIONS, isReading, type Permission, PERMISSIONS } from "../../base/auth/permissions.ts";

/** Ids of the rows of 0002_identity.sql. */
export const BUILT_IN_ROLES = {
  ORGANIZATION_ADMIN: "00000000-0000-4000-8000-000000000001",
  ORGANIZATION_USER: "00000000-0000-4000-8000-000000000002",
  ORGANIZATION_VIEWER: "00000000-0000-4000-8000-000000000003",
  WORKSPACE_ADMIN: "00000000-0000-4000-8000-000000000011",
  WORKSPACE_USER: "00000000-0000-4000-8000-000000000012",
  WORKSPACE_VIEWER: "00000000-0000-4000-8000-000000000013",
} as const;

export type BuiltInRole = keyof typeof BUILT_IN_ROLES;

/** Permissions reserved for administrators, although some only read. */
const FOR_ADMINS: Permission[] = ["workspaces:manage", "bulk-exports:manage", "audit:read", "models:manage"];

const ofWorkspace = ALL_PERMISSIONS.filter((permission) => PERMISSIONS[permission].scope === "workspace");
const forEditors = ofWorkspace.filter((permission) => !FOR_ADMINS.includes(permission));

const PERMISSIONS_OF: Record<BuiltInRole, readonly Permission[]> = {
  ORGANIZATION_ADMIN: ALL_PERMISSIONS,
  ORGANIZATION_USER: ["organization:read", "organization:pats:create"],
  ORGANIZATION_VIEWER: ["organization:read"],
  WORKSPACE_ADMIN: ofWorkspace,
  WORKSPACE_USER: forEditors,
  WORKSPACE_VIEWER: forEditors.filter(isReading),
};

/** Role as stored: built-in roles get their permissions from this code, custom roles list them. */
export interface RoleRights {
  built_in: boolean;
  name: string;
  permissions: string[];
}

/** Returns the role's permissions. Names unknown to this version grant nothing. */
export function rolePermissions(role: RoleRights | null): readonly Permission[] {
  if (!role) return [];
  if (role.built_in) return Object.hasOwn(PERMISSIONS_OF, role.name) ? PERMISSIONS_OF[role.name as BuiltInRole] : [];
  return withImplied(role.permissions.filter(isPermission));
}

/**
 * Adds implied permissions: workspaces:manage includes managing exports, also for roles that do
 * not list it.
 */
const withImplied = (permissions: Permission[]): Permission[] =>
  permissions.includes("workspaces:manage")
    ? [...new Set<Permission>([...permissions, "bulk-exports:read", "bulk-exports:manage"])]
    : permissions;

const isPermission = (name: string): name is Permission => Object.hasOwn(PERMISSIONS, name);
