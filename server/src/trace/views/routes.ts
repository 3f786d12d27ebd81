import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { Principal } from "../../base/auth/principal.ts";
import type { TraceDeps } from "../deps.ts";
import { changeView, createView, removeView, viewerOf } from "./change-view.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const tag = "Views";
const list = v1("/sessions/:session_id/views");
const single = v1("/sessions/:session_id/views/:view_id");
const params = schema.viewParams;

/** Routes of saved views of a project's lists. Rights beyond reading: change-view.ts. */
export function viewRoutes({ sql, projects }: Pick<TraceDeps, "sql" | "projects">): Route[] {
  const checkProject = async (tenantId: string, id: string) => {
    if (!(await projects.hasProject(tenantId, id))) throw notFound("Session not found");
  };
  const read = async (principal: Principal, projectId: string, id: string): Promise<Response> => {
    const item = await rows.findView(sql, viewerOf(principal), projectId, id);
    if (item === undefined) throw notFound("View not found");
    return rawJson(item);
  };
  return [
    route({
      tag,
      method: "GET",
      ...list,
      permission: "projects:read",
      summary: "List the saved views of a project: shared ones, and the caller's own",
      params: schema.projectParams,
      query: schema.listQuery,
      out: { 200: z.array(schema.view) },
      errors: [404],
      async handler({ params: { session_id: projectId }, query, principal }) {
        await checkProject(principal.workspaceId, projectId);
        return rawJson(await rows.listViews(sql, viewerOf(principal), projectId, query.type));
      },
    }),
    route({
      tag,
      method: "POST",
      ...list,
      permission: "projects:read",
      summary: "Save a view; a shared one requires projects:update",
      auditFields: ["display_name"],
      params: schema.projectParams,
      body: schema.createBody,
      out: { 200: schema.view },
      errors: [403, 404, 409],
      async handler({ params: { session_id: projectId }, body, principal }) {
        await checkProject(principal.workspaceId, projectId);
        return read(principal, projectId, await createView(sql, principal, projectId, body));
      },
    }),
    route({
      tag,
      method: "GET",
      ...single,
      permission: "projects:read",
      summary: "Get a saved view",
      params,
      out: { 200: schema.view },
      errors: [404],
      handler: ({ params: { session_id: projectId, view_id: id }, principal }) => read(principal, projectId, id),
    }),
    route({
      tag,
      method: "PATCH",
      ...single,
      permission: "projects:read",
      summary: "Change a saved view; null clears a filter. A shared one requires projects:update",
      auditFields: ["display_name"],
      params,
      body: schema.patchBody,
      out: { 200: schema.view },
      errors: [403, 404, 409],
      async handler({ params: { session_id: projectId, view_id: id }, body, principal }) {
        await changeView(sql, principal, projectId, id, body);
        return read(principal, projectId, id);
      },
    }),
    route({
      tag,
      method: "PATCH",
      ...v1("/sessions/:session_id/views/:view_id/rename"),
      permission: "projects:read",
      summary: "Rename a saved view",
      auditFields: ["display_name"],
      params,
      body: schema.renameBody,
      out: { 200: schema.view },
      errors: [403, 404],
      async handler({ params: { session_id: projectId, view_id: id }, body, principal }) {
        await changeView(sql, principal, projectId, id, body);
        return read(principal, projectId, id);
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...single,
      permission: "projects:read",
      summary: "Delete a saved view; a shared one requires projects:update",
      params,
      out: { 200: z.object({ message: z.string() }) },
      errors: [403, 404],
      async handler({ params: { session_id: projectId, view_id: id }, principal, c }) {
        await removeView(sql, principal, projectId, id);
        return c.json({ message: "View deleted" });
      },
    }),
  ];
}
