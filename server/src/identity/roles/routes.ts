import { z } from "zod";

import { ALL_PERMISSIONS, type Permission, PERMISSIONS } from "../../base/auth/permissions.ts";
import { conflict, notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { IdentityDeps } from "../deps.ts";
import { rolePermissions } from "./built-in.ts";
import * as schema from "./schema.ts";
import { deleteRole, insertRole, type RoleContent, type RoleRow, selectRoles, updateRole } from "./sql.ts";

const shared = { tag: "Roles", scope: "organization" } as const;
const reading = { ...shared, permission: "workspaces:read" } as const;
const changing = { ...shared, permission: "organization:manage" } as const;

export function roleRoutes({ sql }: IdentityDeps): Route[] {
  return [
    route({
      ...reading,
      ...v1("/orgs/permissions"),
      method: "GET",
      summary: "List the permissions that a role can contain",
      out: { 200: z.array(schema.permission) },
      handler: ({ c }) =>
        c.json(
          ALL_PERMISSIONS.map((name) => {
            const { description, scope } = PERMISSIONS[name];
            return { name, description, access_scope: scope };
          }),
        ),
    }),
    route({
      ...reading,
      ...v1("/orgs/current/roles"),
      method: "GET",
      summary: "List the built-in roles and the organization's own",
      out: { 200: z.array(schema.role) },
      async handler({ principal, c }) {
        const roles = await selectRoles(sql, principal.organizationId);
        return c.json(roles.map(toWire));
      },
    }),
    route({
      ...changing,
      ...v1("/orgs/current/roles"),
      method: "POST",
      summary: "Create a role",
      body: schema.roleContent,
      out: { 200: schema.role },
      errors: [409],
      async handler({ body, principal, c }) {
        const role = { ...body, id: uuid7(), access_scope: accessScope(body.permissions) };
        const created = await insertRole(sql, principal.organizationId, role);
        if (!created) throw conflict(`A role "${body.display_name}" already exists.`);
        return c.json(toWire(created));
      },
    }),
    route({
      ...changing,
      ...v1("/orgs/current/roles/:role_id"),
      method: "PATCH",
      summary: "Change a role for all its holders",
      params: schema.roleId,
      body: schema.roleContent,
      out: { 200: schema.role },
      errors: [409],
      async handler({ params, body, principal, c }) {
        const content: RoleContent = { ...body, access_scope: accessScope(body.permissions) };
        const changed = await updateRole(sql, principal.organizationId, params.role_id, content).catch(nameTaken);
        if (!changed) throw notFound("The organization has no such custom role with permissions of this scope.");
        return c.json(toWire(changed));
      },
    }),
    route({
      ...changing,
      ...v1("/orgs/current/roles/:role_id"),
      method: "DELETE",
      summary: "Delete an unused role",
      params: schema.roleId,
      out: { 200: schema.role },
      errors: [409],
      async handler({ params, principal, c }) {
        const deleted = await deleteRole(sql, principal.organizationId, params.role_id).catch(inUse);
        if (!deleted) throw notFound("The organization has no such custom role.");
        return c.json(toWire(deleted));
      },
    }),
  ];
}

function toWire(role: RoleRow): z.output<typeof schema.role> {
  const { id, name, display_name, description, organization_id, access_scope } = role;
  const permissions = [...rolePermissions(role)];
  return { id, name, display_name, description, organization_id, permissions, access_scope };
}

/**
 * Returns the scope of a role. People have one role in the organization and one in each workspace, so a role has a
 * single scope.
 */
function accessScope(permissions: Permission[]): RoleContent["access_scope"] {
  const scopes = new Set(permissions.map((permission) => PERMISSIONS[permission].scope));
  if (scopes.size > 1) throw unprocessable("permissions: a role must be either for workspaces or for the organization");
  return scopes.has("organization") ? "organization" : "workspace";
}

/** SQLSTATE foreign_key_violation */
function inUse(error: unknown): never {
  if ((error as { code?: string }).code !== "23503") throw error;
  throw conflict("A member, key or invitation still has this role. Assign another role first.");
}

/** SQLSTATE unique_violation */
function nameTaken(error: unknown): never {
  if ((error as { code?: string }).code !== "23505") throw error;
  throw conflict("A role with this name already exists.");
}
