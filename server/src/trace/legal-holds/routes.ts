import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { actorName } from "./actor-name.ts";
import * as schema from "./schema.ts";
import { insertHold, listHolds, releaseHold } from "./sql.ts";

const tag = "Deletion";

export function legalHoldRoutes({ sql, deletions }: Pick<TraceDeps, "sql" | "deletions">): Route[] {
  return [
    route({
      tag,
      ...v1("/legal-holds"),
      method: "POST",
      permission: "workspaces:manage",
      summary: "Hold a project or the whole workspace: nothing of it is deleted until the hold is released",
      body: schema.newHold,
      auditFields: ["session_id", "reason"],
      out: { 201: schema.hold },
      errors: [404, 503],
      async handler({ body, principal, c }) {
        const projectId = body.session_id ?? null;
        const by = actorName(principal);
        const row = { id: uuid7(), tenantId: principal.workspaceId, projectId, reason: body.reason, by };
        const hold = await sql.begin(async (tx) => {
          await deletions.exclude(tx, row.tenantId);
          return insertHold(tx, row);
        });
        if (!hold) throw notFound(`Session with ID ${projectId} not found`);
        return c.json(hold, 201);
      },
    }),
    route({
      tag,
      ...v1("/legal-holds"),
      method: "GET",
      permission: "workspaces:read",
      summary: "List legal holds, newest first",
      query: schema.listQuery,
      out: { 200: z.array(schema.hold) },
      handler: async ({ query, principal, c }) => c.json(await listHolds(sql, principal.workspaceId, query.active)),
    }),
    route({
      tag,
      ...v1("/legal-holds/:hold_id"),
      method: "DELETE",
      permission: "workspaces:manage",
      summary: "Release a legal hold; its record stays",
      params: schema.holdParams,
      out: { 200: schema.hold },
      errors: [404],
      async handler({ params, principal, c }) {
        const hold = await releaseHold(sql, principal.workspaceId, params.hold_id, actorName(principal));
        if (!hold) throw notFound(`Legal hold ${params.hold_id} not found`);
        return c.json(hold);
      },
    }),
  ];
}
