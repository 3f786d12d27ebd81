import { z } from "zod";

import { forbidden, notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { actorName } from "../legal-holds/actor-name.ts";
import type { TraceDeps } from "../deps.ts";
import { checkProjects } from "../runs/query-runs.ts";
import { RunScope } from "../runs/run-scope.ts";
import { type ErasureRequest, recordErasure, rejectHeld, toJob } from "./erase.ts";
import * as schema from "./schema.ts";
import { findErasure, listErasures } from "./sql.ts";

const tag = "Deletion";

export function erasureRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      tag,
      ...v1("/erasures"),
      method: "POST",
      permission: "workspaces:manage",
      summary: "Erase traces, a project or the workspace, with feedback and attachments, also from the disk",
      body: schema.newErasure,
      auditFields: ["session_id", "workspace_id", "dataset_copies"],
      out: { 202: schema.erasure },
      errors: [403, 404, 409],
      async handler({ body, principal, c }) {
        const tenantId = principal.workspaceId;
        if (body.workspace_id !== undefined && body.workspace_id !== tenantId) {
          throw forbidden("Forbidden: workspace_id is not the workspace of the request.");
        }
        if (body.session_id) await checkProjects(deps, RunScope.of(principal), [body.session_id]);
        const request: ErasureRequest = {
          scope: body.workspace_id ? "workspace" : body.session_id ? "project" : "traces",
          projects: body.session_id === undefined ? undefined : [body.session_id],
          traces: body.trace_ids,
          datasetCopies: body.dataset_copies,
          requestedBy: actorName(principal),
        };
        await rejectHeld(sql, deps, toJob(tenantId, "", request));
        const created = await recordErasure(sql, tenantId, request, true);
        deps.erasures.wake();
        return c.json(created, 202, { Location: `/api/v1/erasures/${created.id}` });
      },
    }),
    route({
      tag,
      ...v1("/erasures"),
      method: "GET",
      permission: "workspaces:read",
      summary: "List deletions of traces, projects and workspaces, newest first",
      query: schema.listQuery,
      out: { 200: z.array(schema.erasure) },
      handler: async ({ query, principal, c }) => c.json(await listErasures(sql, principal.workspaceId, query.limit)),
    }),
    route({
      tag,
      ...v1("/erasures/:erasure_id"),
      method: "GET",
      permission: "workspaces:read",
      summary: "Get a deletion: whether it is still readable, or still on the disk",
      params: schema.erasureParams,
      out: { 200: schema.erasure },
      errors: [404],
      async handler({ params, principal, c }) {
        const found = await findErasure(sql, principal.workspaceId, params.erasure_id);
        if (!found) throw notFound(`Erasure ${params.erasure_id} not found`);
        return c.json(found);
      },
    }),
  ];
}
