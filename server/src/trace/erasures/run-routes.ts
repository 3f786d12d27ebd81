import { z } from "zod";

import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { findTraces } from "../runs/delete-clickhouse.ts";
import * as schema from "./run-schema.ts";
import { eraseTraces } from "./erase-at-request.ts";
import { checkProjects } from "../runs/query-runs.ts";
import { RunScope } from "../runs/run-scope.ts";

const shared = {
  tag: "Runs",
  permission: "runs:delete",
  out: { 200: z.object({ deleted_traces: z.int(), erasure_id: z.guid().optional() }) },
} as const;

export function runDeleteRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      ...shared,
      ...v1("/runs/delete/traces"),
      method: "POST",
      summary: "Delete traces of a project",
      body: schema.deleteTracesBody,
      errors: [404, 409],
      async handler({ body, principal, c }) {
        const scope = RunScope.of(principal);
        await checkProjects(deps, scope, [body.session_id]);
        const found = await findTraces(deps.clickhouse, scope, { projects: [body.session_id], traces: body.trace_ids });
        const erasure_id = await eraseTraces(deps, principal, found, [body.session_id], body.dataset_copies ?? false);
        return c.json({ deleted_traces: found.length, erasure_id });
      },
    }),
    route({
      ...shared,
      ...v1("/runs/delete"),
      method: "POST",
      summary: "Delete traces by id, or by metadata of their runs",
      body: schema.deleteBody,
      errors: [404, 409],
      async handler({ body, principal, c }) {
        const scope = RunScope.of(principal);
        const projects = body.session_id == null ? undefined : [body.session_id];
        await checkProjects(deps, scope, projects);
        const entries = Object.entries(body.metadata ?? {}).map(([key, value]) => ({ key, value }));
        const found = await findTraces(deps.clickhouse, scope, {
          projects,
          traces: body.trace_ids ?? undefined,
          filters: entries.length > 0 ? [{ kind: "metadata_contains", entries }] : [],
        });
        const erasure_id = await eraseTraces(deps, principal, found, projects, body.dataset_copies ?? false);
        return c.json({ deleted_traces: found.length, erasure_id });
      },
    }),
  ];
}
