import { z } from "zod";

import { conflict, notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { selectWorkspace, setWorkspaceHandle, type WorkspaceRow } from "../../identity/workspaces/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { handle } from "../prompts/schema.ts";

const settings = z
  .object({
    id: z.guid(),
    display_name: z.string(),
    created_at: z.iso.datetime({ offset: true }),
    tenant_handle: z.string().nullable(),
  })
  .meta({ id: "WorkspaceSettings" });

/** Routes of the workspace of the caller's key. Clients request it before they print links. */
export function workspaceSettingsRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  return [
    route({
      tag: "System",
      method: "GET",
      ...v1("/settings"),
      permission: "workspaces:read",
      summary: "Get the name and handle of the workspace",
      out: { 200: settings },
      errors: [404],
      async handler({ principal, c }) {
        const workspace = await selectWorkspace(sql, principal.workspaceId);
        if (!workspace) throw notFound("Workspace not found");
        return c.json(toWire(workspace));
      },
    }),
    route({
      tag: "System",
      method: "POST",
      ...v1("/settings/handle"),
      permission: "workspaces:manage",
      summary: "Give the workspace a handle, by which others find its public prompts; it cannot be changed later",
      auditFields: ["tenant_handle"],
      body: z.object({ tenant_handle: handle }),
      out: { 200: settings },
      errors: [404, 409],
      async handler({ principal, body: { tenant_handle: wanted }, c }) {
        const workspace = await setWorkspaceHandle(sql, principal.workspaceId, wanted).catch((error: unknown) => {
          // SQLSTATE unique_violation
          if ((error as { code?: string }).code !== "23505") throw error;
          throw conflict(`The handle "${wanted}" is taken. Choose another one.`);
        });
        if (workspace) return c.json(toWire(workspace));
        const current = await selectWorkspace(sql, principal.workspaceId);
        if (!current) throw notFound("Workspace not found");
        throw conflict(
          `The workspace has the handle "${current.tenant_handle}". It is part of the names of its prompts and cannot be changed.`,
        );
      },
    }),
  ];
}

const toWire = ({ id, display_name, tenant_handle, created_at }: WorkspaceRow): z.output<typeof settings> => ({
  id,
  display_name,
  tenant_handle,
  created_at: created_at.toISOString(),
});
