import type { Permission } from "../../base/auth/permissions.ts";
import type { Principal } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { forbidden, unprocessable } from "../../base/errors.ts";
import { rolePermissions } from "./built-in.ts";
import { type RoleRow, selectRole } from "./sql.ts";

/**
 * Checks that the caller has every permission that they grant to a key or a person. organization:manage passes, since
 * its holders may assign themselves any role.
 */
function checkGrant(principal: Principal, permissions: readonly Permission[]): void {
  if (principal.permissions.has("organization:manage")) return;
  const missing = permissions.find((permission) => !principal.permissions.has(permission));
  if (missing) throw forbidden(`Forbidden: granting ${missing} requires having it. Choose another role_id.`);
}

/**
 * Returns a role of this scope that the caller may grant. Throws 422 when there is none, 403 when the caller may not.
 */
export async function grantableRole(
  sql: Sql | Transaction,
  principal: Principal,
  id: string,
  scope: RoleRow["access_scope"],
): Promise<RoleRow> {
  const role = await selectRole(sql, principal.organizationId, id);
  if (!role) throw unprocessable(`there is no role ${id}`);
  if (role.access_scope !== scope) {
    throw unprocessable(
      `the role ${role.display_name} is for ${role.access_scope}s, but a role for ${scope}s is required`,
    );
  }
  checkGrant(principal, rolePermissions(role));
  return role;
}
