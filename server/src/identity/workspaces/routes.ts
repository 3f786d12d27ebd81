import { z } from "zod";

import { ALL_PERMISSIONS, isReading } from "../../base/auth/permissions.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { conflict, forbidden, notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { IdentityDeps } from "../deps.ts";
import { rolePermissions } from "../roles/built-in.ts";
import { toViewer } from "./readable-workspaces.ts";
import * as schema from "./schema.ts";
import {
  insertWorkspace,
  markWorkspaceDeleted,
  type WorkspaceViewer,
  selectVisibleWorkspaces,
  selectWorkspace,
  updateWorkspace,
  type VisibleWorkspaceRow,
  type WorkspaceRow,
} from "./sql.ts";

const shared = { tag: "Workspaces", scope: "organization" } as const;

export function workspaceRoutes({ sql }: IdentityDeps): Route[] {
  const list = async (viewer: WorkspaceViewer) => (await selectVisibleWorkspaces(sql, viewer)).map(toVisible);

  /** Returns a workspace of the caller's organization. Any other is reported as not found. */
  async function own(principal: Principal, id: string): Promise<WorkspaceRow> {
    const row = await selectWorkspace(sql, id);
    const isOwn = row?.organization_id === principal.organizationId;
    const mayChange = id === principal.workspaceId || principal.permissions.has("organization:manage");
    if (!row || !isOwn || !mayChange) throw notFound("Workspace not found");
    return row;
  }

  const create = { ...shared, permission: "organization:manage", method: "POST", errors: [409] } as const;
  const make = async (body: z.output<typeof schema.newWorkspace>, { organizationId }: Principal) => {
    if (body.organization_id && body.organization_id !== organizationId) {
      throw forbidden("Forbidden: organization_id is not the caller's organization.");
    }
    const created = await insertWorkspace(sql, {
      id: body.id ?? uuid7(),
      organization_id: organizationId,
      display_name: body.display_name,
      tenant_handle: body.tenant_handle ?? null,
      plan: body.plan,
      is_default: false,
    });
    if (!created) throw conflict("A workspace with this id or tenant_handle already exists.");
    return toWire(created);
  };

  return [
    route({
      ...shared,
      ...v1("/workspaces"),
      method: "GET",
      permission: "workspaces:read",
      summary: "List the workspaces of the organization that the caller has access to",
      query: schema.listQuery,
      out: { 200: z.array(schema.visibleWorkspace) },
      handler: async ({ query, principal, c }) =>
        c.json(await list(toViewer(principal, principal.organizationId, query.include_deleted))),
    }),
    route({
      ...shared,
      ...v1("/tenants"),
      method: "GET",
      permission: "workspaces:read",
      summary: "List all workspaces that the caller has access to",
      query: schema.listQuery,
      out: { 200: z.array(schema.visibleWorkspace) },
      handler: async ({ query, principal, c }) => c.json(await list(toViewer(principal, null, query.include_deleted))),
    }),
    route({
      ...create,
      ...v1("/workspaces"),
      summary: "Create a workspace",
      body: schema.newWorkspace,
      out: { 200: schema.workspace },
      handler: async ({ body, principal, c }) => c.json(await make(body, principal)),
    }),
    route({
      ...create,
      ...v1("/tenants"),
      summary: "Create a workspace",
      body: schema.newWorkspace,
      out: { 200: schema.workspace },
      handler: async ({ body, principal, c }) => c.json(await make(body, principal)),
    }),
    route({
      ...shared,
      ...v1("/workspaces/:workspace_id"),
      method: "PATCH",
      permission: "workspaces:manage",
      summary: "Rename a workspace, or change its plan",
      auditFields: ["plan", "display_name"],
      params: schema.workspaceId,
      body: schema.workspaceChange,
      out: { 200: schema.workspace },
      errors: [404],
      async handler({ params, body, principal, c }) {
        const { id } = await own(principal, params.workspace_id);
        if (body.plan !== undefined && !principal.permissions.has("organization:manage")) {
          throw forbidden("Forbidden: a change of plan requires the permission organization:manage.");
        }
        const changed = await updateWorkspace(sql, id, {
          display_name: body.display_name ?? null,
          plan: body.plan ?? null,
        });
        if (!changed) throw notFound("Workspace not found");
        return c.json(toWire(changed));
      },
    }),
    route({
      ...shared,
      ...v1("/workspaces/:workspace_id"),
      method: "DELETE",
      permission: "organization:manage",
      summary: "Delete a workspace and end all access to it",
      params: schema.workspaceId,
      out: { 200: schema.workspace },
      errors: [404, 409],
      async handler({ params, principal, c }) {
        const { id, is_default: isDefault } = await own(principal, params.workspace_id);
        if (isDefault) throw conflict("The default workspace cannot be deleted.");
        const deleted = await markWorkspaceDeleted(sql, id);
        if (!deleted) throw notFound("Workspace not found");
        return c.json(toWire(deleted));
      },
    }),
  ];
}

const toWire = (row: WorkspaceRow): z.output<typeof schema.workspace> => ({
  id: row.id,
  organization_id: row.organization_id,
  display_name: row.display_name,
  tenant_handle: row.tenant_handle,
  created_at: row.created_at.toISOString(),
  is_personal: false,
  is_deleted: row.deleted_at !== null,
  plan: row.plan,
});

function toVisible({ rights, ...row }: VisibleWorkspaceRow): z.output<typeof schema.visibleWorkspace> {
  // no role: a loopback caller
  const permissions = rights ? rolePermissions(rights) : ALL_PERMISSIONS;
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    is_personal: false,
    role_name: row.role_name ?? "Admin",
    permissions: row.read_only ? permissions.filter(isReading) : [...permissions],
  };
}
