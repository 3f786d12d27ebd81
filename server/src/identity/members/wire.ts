import type { z } from "zod";

import type { InvitationRow, MemberRow } from "./list-sql.ts";
import type * as schema from "./schema.ts";

export function toOrganizationMember(row: MemberRow): z.output<typeof schema.organizationMember> {
  // on this endpoint the role is the organization role
  const role = { role_id: row.org_role_id, role_name: row.org_role_name, access_scope: "organization" as const };
  return { ...toWorkspaceMember(row), ...role, tenant_ids: row.tenant_ids };
}

export const toWorkspaceMember = (row: MemberRow): z.output<typeof schema.workspaceMember> => ({
  id: row.id,
  organization_id: row.organization_id,
  tenant_id: row.tenant_id,
  created_at: row.created_at.toISOString(),
  user_id: row.user_id,
  ls_user_id: row.user_id,
  read_only: row.read_only,
  email: row.email,
  full_name: row.full_name,
  display_name: row.full_name ?? row.email,
  is_disabled: row.is_disabled,
  role_id: row.role_id,
  role_name: row.role_name,
  access_scope: "workspace",
  org_role_id: row.org_role_id,
  org_role_name: row.org_role_name,
});

/** Serializes an invitation. With `workspaceId`, for a workspace's list, the role is the workspace role. */
export function toPendingMember(row: InvitationRow, workspaceId: string | null): z.output<typeof schema.pendingMember> {
  const role = workspaceId
    ? { role_id: row.workspace_role_id, role_name: row.workspace_role_name, access_scope: "workspace" as const }
    : {
        role_id: row.organization_role_id,
        role_name: row.organization_role_name,
        access_scope: "organization" as const,
      };
  return {
    id: row.id,
    organization_id: row.organization_id,
    tenant_id: workspaceId,
    user_id: null,
    email: row.email,
    full_name: row.full_name,
    read_only: row.read_only,
    created_at: row.created_at.toISOString(),
    workspace_ids: row.workspace_ids,
    workspace_role_id: row.workspace_role_id,
    tenant_ids: row.workspace_ids,
    org_role_id: row.organization_role_id,
    org_role_name: row.organization_role_name,
    ...role,
  };
}
