import type { Principal } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { conflict, notFound } from "../../base/errors.ts";
import { revokePersonalKeys } from "../api-keys/sql.ts";
import { BUILT_IN_ROLES } from "../roles/built-in.ts";
import { grantableRole } from "../roles/may-grant.ts";
import {
  countWithRole,
  deleteOrganizationMember,
  selectOrganizationMember,
  updateOrganizationMember,
  updateUserName,
} from "./sql.ts";

export async function changeOrganizationMember(
  sql: Sql,
  principal: Principal,
  id: string,
  changes: { roleId: string | undefined; fullName: string | undefined },
): Promise<void> {
  const { organizationId } = principal;
  const role = changes.roleId && (await grantableRole(sql, principal, changes.roleId, "organization"));
  await sql.begin(async (tx) => {
    const member = await selectOrganizationMember(tx, organizationId, { id });
    if (!member) throw notFound("The organization has no such member.");
    if (role) {
      await updateOrganizationMember(tx, member.id, role.id);
      await checkAdministrators(tx, organizationId, member.role_id);
    }
    if (changes.fullName !== undefined) await updateUserName(tx, member.user_id, changes.fullName);
  });
}

/** Removes a member from the organization and its workspaces, and revokes their personal keys. */
export async function removeOrganizationMember(sql: Sql, principal: Principal, id: string): Promise<void> {
  const { organizationId } = principal;
  await sql.begin(async (tx) => {
    const member = await selectOrganizationMember(tx, organizationId, { id });
    if (!member) throw notFound("The organization has no such member.");
    await deleteOrganizationMember(tx, organizationId, member.user_id);
    await revokePersonalKeys(tx, organizationId, member.user_id);
    await checkAdministrators(tx, organizationId, member.role_id);
  });
}

/** Throws 409 when the last administrator would go. An installation managed by keys alone may have none. */
async function checkAdministrators(tx: Transaction, organizationId: string, roleBefore: string): Promise<void> {
  if (roleBefore !== BUILT_IN_ROLES.ORGANIZATION_ADMIN) return;
  if ((await countWithRole(tx, organizationId, roleBefore)) === 0) {
    throw conflict("The user is the organization's only administrator. Make another member an administrator first.");
  }
}
