import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { selectWorkspace } from "../../identity/workspaces/sql.ts";
import type { TraceDeps } from "../deps.ts";

const settings = z
  .object({
    id: z.guid(),
    display_name: z.string(),
    created_at: z.iso.datetime({ offset: true }),
    tenant_handle: z.string().nullable(),
  })
  .meta({ id: "WorkspaceSettings" });

/** Route that returns the workspace of the caller's key. Clients request it before they print links (contract §4.6). */
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
        const { id, display_name, tenant_handle, created_at } = workspace;
        return c.json({ id, display_name, tenant_handle, created_at: created_at.toISOString() });
      },
    }),
  ];
}
