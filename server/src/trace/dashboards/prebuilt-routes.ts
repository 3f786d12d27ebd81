import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import * as change from "./change-charts.ts";
import { filterCharts, groupSeries, readCharts } from "./chart-data.ts";
import { readPrebuilt } from "./read-prebuilt.ts";
import { requireRuns } from "./require-runs.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const tag = "Dashboards";

/** Routes of the dashboards that projects and deployments have, and of copies. */
export function prebuiltRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const readSection = async (tenantId: string, id: string) => {
    const found = await rows.findSection(sql, tenantId, id);
    if (!found) throw notFound(change.SECTION_NOT_FOUND);
    return found;
  };
  return [
    route({
      tag,
      method: "POST",
      ...v1("/charts/section/clone"),
      permission: "charts:create",
      summary: "Copy a dashboard, or a project's own",
      body: schema.cloneBody,
      out: { 200: schema.section },
      errors: [404],
      async handler({ body, principal: { workspaceId }, c }) {
        if (body.session_id != null) {
          const { title, sections } = await readPrebuilt(deps, workspaceId, body.session_id, body.kind);
          return c.json(
            await readSection(workspaceId, await change.clonePrebuilt(deps, workspaceId, `Copy of ${title}`, sections)),
          );
        }
        const section = await readSection(workspaceId, body.section_id!);
        const charts = await rows.listCharts(sql, workspaceId, { section: section.id });
        const copy = { title: `Copy of ${section.title}`.slice(0, schema.MAX_TITLE), description: section.description };
        return c.json(await readSection(workspaceId, await change.createSection(deps, workspaceId, copy, charts)));
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/sessions/:session_id/dashboard"),
      permission: "charts:read",
      summary: "Get a project's own dashboard with its data, or that of the deployment whose traces it has",
      params: schema.sessionParams,
      body: schema.prebuiltBody,
      out: { 200: schema.sectionWithCharts },
      errors: [400],
      async handler({ params: { session_id: id }, body, principal, c }) {
        const { workspaceId } = principal;
        if (body.common_filters ?? body.group_by) requireRuns(principal);
        if (body.common_filters) await change.checkCharted(deps, workspaceId, [], body.common_filters);
        const { title, sections } = await readPrebuilt(deps, workspaceId, id, body.kind);
        const own = sections.flatMap((section) => section.charts);
        const charts = filterCharts(groupSeries(own, body.group_by), body.common_filters);
        const read = await readCharts(deps, workspaceId, charts, body);
        const data = charts.map(({ section_id: _section, ...chart }, i) => ({ ...chart, data: read[i]! }));
        return c.json({
          id,
          session_id: id,
          title,
          description: null,
          index: null,
          charts: [],
          sub_sections: sections.map(({ charts: _charts, ...section }) => ({
            ...section,
            charts: data.filter((_, i) => charts[i]!.section_id === section.id),
          })),
        });
      },
    }),
  ];
}
