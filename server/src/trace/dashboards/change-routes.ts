import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { checkProjects } from "../runs/query-runs.ts";
import { RunScope } from "../runs/run-scope.ts";
import * as schema from "./change-schema.ts";
import { readChanges } from "./read-changes.ts";
import { readEvents } from "./read-events.ts";
import { requireRuns } from "./require-runs.ts";

export function changeRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      tag: "Dashboards",
      method: "POST",
      ...v1("/charts/changes"),
      permission: "charts:read",
      summary: "Find what got worse in projects since the previous period, and in which traces",
      body: schema.changesBody,
      out: { 200: schema.changes },
      errors: [400],
      async handler({ body, principal, c }) {
        requireRuns(principal);
        await checkProjects(deps, RunScope.of(principal), body.session);
        return c.json(await readChanges(deps, principal.workspaceId, body));
      },
    }),
    route({
      tag: "Dashboards",
      method: "POST",
      ...v1("/charts/events"),
      permission: "charts:read",
      summary: "List the revisions whose first traces are in a period, by project",
      body: schema.eventsBody,
      out: { 200: schema.events },
      handler: async ({ body, principal: { workspaceId }, c }) => c.json(await readEvents(deps, workspaceId, body)),
    }),
  ];
}
