import type { Principal } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { conflict, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { BUILT_IN_ROLES } from "../roles/built-in.ts";
import { grantableRole } from "../roles/may-grant.ts";
import { selectWorkspaceIds } from "../workspaces/sql.ts";
import type { Invitation } from "./schema.ts";
import {
  insertOrganizationMember,
  insertUser,
  insertWorkspaceMember,
  type NewInvitation,
  selectOrganizationMember,
  selectUserByEmail,
  takeInvitations,
  upsertInvitation,
  type UserRow,
} from "./sql.ts";

/**
 * Adds a person to the organization and to workspaces: at once if they have an account, otherwise when they get one
 * (`welcomeInvited`). Existing members keep their roles.
 * @returns the id of the invitation or of the membership
 */
export async function inviteMember(
  sql: Sql,
  principal: Principal,
  invitation: Invitation,
): Promise<{ id: string; user_id: string | null }> {
  const { organizationId } = principal;
  const checked = await checkInvitation(sql, principal, invitation);
  return sql.begin(async (tx) => {
    const user = await selectUserByEmail(tx, invitation.email);
    const created: NewInvitation = { ...checked, id: uuid7(), organization_id: organizationId };
    if (!user) return { ...(await upsertInvitation(tx, created)), user_id: null };
    return { id: await admit(tx, user.id, created), user_id: user.id };
  });
}

async function checkInvitation(
  sql: Sql,
  principal: Principal,
  invitation: Invitation,
): Promise<Omit<NewInvitation, "id" | "organization_id">> {
  const workspaceIds = invitation.workspace_ids ?? [];
  const roleId = invitation.role_id ?? BUILT_IN_ROLES.ORGANIZATION_USER;
  // inviting to a workspace implies the organization's default role, which needs no right to grant it
  if (roleId !== BUILT_IN_ROLES.ORGANIZATION_USER) await grantableRole(sql, principal, roleId, "organization");
  const workspaceRoleId = invitation.workspace_role_id ?? BUILT_IN_ROLES.WORKSPACE_USER;
  if (workspaceIds.length > 0) {
    await grantableRole(sql, principal, workspaceRoleId, "workspace");
    const known = await selectWorkspaceIds(sql, principal.organizationId);
    const unknown = workspaceIds.find((id) => !known.includes(id));
    if (unknown) throw unprocessable(`there is no workspace ${unknown}`);
  }
  return {
    email: invitation.email,
    full_name: invitation.full_name ?? null,
    organization_role_id: roleId,
    workspace_ids: workspaceIds,
    workspace_role_id: workspaceIds.length > 0 ? workspaceRoleId : null,
    read_only: invitation.read_only ?? false,
  };
}

/** @returns the id of the organization membership */
async function admit(tx: Transaction, userId: string, invitation: NewInvitation): Promise<string> {
  const { id } = await insertOrganizationMember(tx, {
    id: uuid7(),
    organization_id: invitation.organization_id,
    user_id: userId,
    role_id: invitation.organization_role_id,
  });
  for (const workspaceId of invitation.workspace_ids) {
    await insertWorkspaceMember(tx, {
      id: uuid7(),
      workspace_id: workspaceId,
      user_id: userId,
      role_id: invitation.workspace_role_id ?? BUILT_IN_ROLES.WORKSPACE_VIEWER,
      read_only: invitation.read_only,
    });
  }
  return id;
}

/**
 * Creates an account for a person who has proven ownership of an invited address.
 * @param email in lower case
 */
export async function welcomeInvited(sql: Sql, email: string, fullName: string | null): Promise<UserRow | undefined> {
  return sql.begin(async (tx) => {
    const invitations = await takeInvitations(tx, email);
    if (invitations.length === 0) return undefined;
    const name = fullName ?? invitations.find((invitation) => invitation.full_name !== null)?.full_name ?? null;
    const user =
      (await insertUser(tx, { id: uuid7(), email, full_name: name })) ?? (await selectUserByEmail(tx, email));
    for (const invitation of invitations) await admit(tx, user!.id, invitation);
    return user;
  });
}

/**
 * Adds a member of the organization to the caller's workspace. Throws 404 if they are not a member of the organization,
 * 409 if they are already in the workspace.
 */
export async function addToWorkspace(
  sql: Sql,
  principal: Principal,
  existing: { userId: string | undefined; memberId: string | undefined; roleId: string; readOnly: boolean },
): Promise<string> {
  const role = await grantableRole(sql, principal, existing.roleId, "workspace");
  const member = await selectOrganizationMember(sql, principal.organizationId, {
    id: existing.memberId,
    userId: existing.userId,
  });
  if (!member) throw notFound("The organization has no such member.");
  const inserted = await insertWorkspaceMember(sql, {
    id: uuid7(),
    workspace_id: principal.workspaceId,
    user_id: member.user_id,
    role_id: role.id,
    read_only: existing.readOnly,
  });
  if (!inserted) throw conflict("The user is already a member of the workspace.");
  return member.user_id;
}
