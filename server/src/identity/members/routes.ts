import type { Context } from "hono";
import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { paginationHeaders } from "../../base/http/pagination.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { IdentityDeps } from "../deps.ts";
import { BUILT_IN_ROLES } from "../roles/built-in.ts";
import { grantableRole } from "../roles/may-grant.ts";
import { addToWorkspace, inviteMember } from "./add-member.ts";
import { changeOrganizationMember, removeOrganizationMember } from "./change-member.ts";
import { type MemberScope, selectInvitations, selectMembers } from "./list-sql.ts";
import * as schema from "./schema.ts";
import { deleteInvitation, deleteWorkspaceMember, updateWorkspaceMember } from "./sql.ts";
import { toOrganizationMember, toPendingMember, toWorkspaceMember } from "./wire.ts";

const shared = { tag: "Members" } as const;
const ofOrganization = { ...shared, scope: "organization", permission: "organization:manage" } as const;
const readingOrganization = { ...ofOrganization, permission: "organization:read", method: "GET" } as const;
const ofWorkspace = { ...shared, permission: "workspaces:manage" } as const;
const readingWorkspace = { ...shared, permission: "workspaces:read", method: "GET" } as const;
const done = z.object({ message: z.string() });

export function memberRoutes(deps: IdentityDeps): Route[] {
  return [...organizationMemberRoutes(deps), ...workspaceMemberRoutes(deps)];
}

function organizationMemberRoutes({ sql }: IdentityDeps): Route[] {
  const organizationScope = ({ organizationId }: { organizationId: string }): MemberScope => ({
    organizationId,
    workspaceId: null,
  });
  return [
    route({
      ...readingOrganization,
      ...v1("/orgs/current/members"),
      summary: "List the first 500 members and invitations of the organization",
      out: { 200: schema.organizationMembers },
      async handler({ principal, c }) {
        const scope = organizationScope(principal);
        const [members, pending] = await Promise.all([selectMembers(sql, scope), selectInvitations(sql, scope)]);
        return c.json({
          organization_id: principal.organizationId,
          members: members.map(toOrganizationMember),
          pending: pending.map((row) => toPendingMember(row, null)),
        });
      },
    }),
    route({
      ...readingOrganization,
      ...v1("/orgs/current/members/active"),
      summary: "List members of the organization",
      query: schema.listQuery,
      out: { 200: z.array(schema.organizationMember) },
      handler: async ({ principal, query, c }) =>
        page(c, query, await selectMembers(sql, organizationScope(principal), query), toOrganizationMember),
    }),
    route({
      ...readingOrganization,
      ...v1("/orgs/current/members/pending"),
      summary: "List invitations to the organization",
      query: schema.listQuery,
      out: { 200: z.array(schema.pendingMember) },
      handler: async ({ principal, query, c }) =>
        page(c, query, await selectInvitations(sql, organizationScope(principal), query), (row) =>
          toPendingMember(row, null),
        ),
    }),
    route({
      ...ofOrganization,
      ...v1("/orgs/current/members"),
      method: "POST",
      summary: "Invite a person; a user with an account becomes a member immediately",
      body: schema.invitation,
      out: { 200: schema.pendingMember },
      handler: async ({ principal, body, c }) => {
        await inviteMember(sql, principal, body);
        return c.json(await invited(principal, body.email));
      },
    }),
    route({
      ...ofOrganization,
      ...v1("/orgs/current/members/batch"),
      method: "POST",
      summary: "Invite up to 500 people",
      body: schema.invitations,
      out: { 200: z.array(schema.pendingMember) },
      async handler({ principal, body, c }) {
        const all = [];
        for (const item of body) {
          await inviteMember(sql, principal, item);
          all.push(await invited(principal, item.email));
        }
        return c.json(all);
      },
    }),
    route({
      ...ofOrganization,
      ...v1("/orgs/current/members/:identity_id/pending"),
      method: "DELETE",
      summary: "Withdraw an invitation",
      params: schema.memberId,
      out: { 200: done },
      errors: [404],
      async handler({ principal, params, c }) {
        const deleted = await deleteInvitation(sql, principal.organizationId, null, params.identity_id);
        if (!deleted) throw notFound("The invitation does not exist.");
        return c.json({ message: "Invitation deleted" });
      },
    }),
    route({
      ...ofOrganization,
      ...v1("/orgs/current/members/:identity_id"),
      method: "PATCH",
      summary: "Change a member's role or name",
      params: schema.memberId,
      body: schema.organizationMemberChange,
      out: { 200: done },
      errors: [404, 409],
      async handler({ principal, params, body, c }) {
        const changes = { roleId: body.role_id ?? undefined, fullName: body.full_name ?? undefined };
        await changeOrganizationMember(sql, principal, params.identity_id, changes);
        return c.json({ message: "Member updated" });
      },
    }),
    route({
      ...ofOrganization,
      ...v1("/orgs/current/members/:identity_id"),
      method: "DELETE",
      summary: "Remove a member from the organization and revoke the member's personal keys",
      params: schema.memberId,
      out: { 200: done },
      errors: [404, 409],
      async handler({ principal, params, c }) {
        await removeOrganizationMember(sql, principal, params.identity_id);
        return c.json({ message: "Member removed" });
      },
    }),
  ];

  /** Returns the current state: an invitation, or a membership. */
  async function invited({ organizationId }: { organizationId: string }, email: string) {
    const scope = { organizationId, workspaceId: null };
    const [pending] = await selectInvitations(sql, scope, { emails: [email], limit: 1 });
    if (pending) return toPendingMember(pending, null);
    const [member] = await selectMembers(sql, scope, { emails: [email], limit: 1 });
    const { org_role_id, tenant_ids, ...rest } = toOrganizationMember(member!);
    return { ...rest, org_role_id, tenant_ids, workspace_ids: tenant_ids, workspace_role_id: null };
  }
}

function workspaceMemberRoutes({ sql }: IdentityDeps): Route[] {
  const workspaceScope = ({
    organizationId,
    workspaceId,
  }: {
    organizationId: string;
    workspaceId: string;
  }): MemberScope => ({
    organizationId,
    workspaceId,
  });
  return [
    route({
      ...readingWorkspace,
      ...v1("/workspaces/current/members"),
      summary: "List the first 500 members and invitations of the workspace",
      out: { 200: schema.workspaceMembers },
      async handler({ principal, c }) {
        const scope = workspaceScope(principal);
        const [members, pending] = await Promise.all([selectMembers(sql, scope), selectInvitations(sql, scope)]);
        return c.json({
          tenant_id: principal.workspaceId,
          members: members.map(toWorkspaceMember),
          pending: pending.map((row) => toPendingMember(row, principal.workspaceId)),
        });
      },
    }),
    route({
      ...readingWorkspace,
      ...v1("/workspaces/current/members/active"),
      summary: "List members of the workspace",
      query: schema.listQuery,
      out: { 200: z.array(schema.workspaceMember) },
      handler: async ({ principal, query, c }) =>
        page(c, query, await selectMembers(sql, workspaceScope(principal), query), toWorkspaceMember),
    }),
    route({
      ...readingWorkspace,
      ...v1("/workspaces/current/members/pending"),
      summary: "List invitations to the workspace",
      query: schema.listQuery,
      out: { 200: z.array(schema.pendingMember) },
      handler: async ({ principal, query, c }) =>
        page(c, query, await selectInvitations(sql, workspaceScope(principal), query), (row) =>
          toPendingMember(row, principal.workspaceId),
        ),
    }),
    route({
      ...ofWorkspace,
      ...v1("/workspaces/current/members"),
      method: "POST",
      summary: "Add a member of the organization to the workspace",
      body: schema.newWorkspaceMember,
      out: { 200: schema.workspaceMember },
      errors: [404, 409],
      async handler({ principal, body, c }) {
        const userId = await addToWorkspace(sql, principal, {
          userId: body.user_id ?? body.ls_user_id ?? undefined,
          memberId: body.org_identity_id ?? undefined,
          roleId: body.role_id ?? BUILT_IN_ROLES.WORKSPACE_USER,
          readOnly: body.read_only ?? false,
        });
        const [member] = await selectMembers(sql, workspaceScope(principal), { user_ids: [userId], limit: 1 });
        return c.json(toWorkspaceMember(member!));
      },
    }),
    route({
      ...ofWorkspace,
      ...v1("/workspaces/current/members/:identity_id"),
      method: "PATCH",
      summary: "Change a member's role in the workspace",
      params: schema.memberId,
      body: schema.workspaceMemberChange,
      out: { 200: done },
      errors: [404],
      async handler({ principal, params, body, c }) {
        const role = await grantableRole(sql, principal, body.role_id, "workspace");
        const changes = { role_id: role.id, read_only: body.read_only ?? null };
        const changed = await updateWorkspaceMember(sql, principal.workspaceId, params.identity_id, changes);
        if (!changed) throw notFound("The workspace has no such member.");
        return c.json({ message: "Member updated" });
      },
    }),
    route({
      ...ofWorkspace,
      ...v1("/workspaces/current/members/:identity_id"),
      method: "DELETE",
      summary: "Remove a member from the workspace",
      params: schema.memberId,
      out: { 200: done },
      errors: [404],
      async handler({ principal, params, c }) {
        const deleted = await deleteWorkspaceMember(sql, principal.workspaceId, params.identity_id);
        if (!deleted) throw notFound("The workspace has no such member.");
        return c.json({ message: "Member removed" });
      },
    }),
  ];
}

function page<Row extends { total: number }>(
  c: Context,
  { limit, offset }: { limit: number; offset: number },
  rows: Row[],
  toWire: (row: Row) => object,
): Response {
  const headers = paginationHeaders(rows[0]?.total ?? 0, offset, limit);
  return c.json(rows.map(toWire), 200, headers);
}
