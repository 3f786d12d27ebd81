import { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import * as change from "./change-charts.ts";
import { filterCharts, groupSeries, readCharts } from "./chart-data.ts";
import { readPrebuilt } from "./read-prebuilt.ts";
import { requireRuns } from "./require-runs.ts";
import * as schema from "./schema.ts";
import type { Chart, Period, SectionWithCharts } from "./schema.ts";
import * as rows from "./sql.ts";

const tag = "Dashboards";

/** Routes of dashboards, which the API calls sections, and of their charts. */
export function dashboardRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const readSection = async (tenantId: string, id: string) => {
    const found = await rows.findSection(sql, tenantId, id);
    if (!found) throw notFound(change.SECTION_NOT_FOUND);
    return found;
  };
  const readChart = async (tenantId: string, id: string) => {
    const found = await rows.findChart(sql, tenantId, id);
    if (!found) throw notFound(change.CHART_NOT_FOUND);
    return found;
  };
  const withData = async (tenantId: string, charts: readonly Chart[], period: Period) => {
    const data = await readCharts(deps, tenantId, charts, period);
    return charts.map(({ section_id: _section, ...chart }, i) => ({ ...chart, data: data[i]! }));
  };

  const checkCommon = async (principal: Principal, filters: schema.ChartFilters | null | undefined) => {
    if (!filters) return;
    requireRuns(principal);
    await change.checkCharted(deps, principal.workspaceId, [], filters);
  };

  return [
    route({
      tag,
      method: "GET",
      ...v1("/charts/section"),
      permission: "charts:read",
      summary: "List dashboards",
      query: schema.listQuery,
      out: { 200: z.array(schema.section) },
      handler: async ({ query, principal, c }) => c.json(await rows.listSections(sql, principal.workspaceId, query)),
    }),
    route({
      tag,
      method: "POST",
      ...v1("/charts/section"),
      permission: "charts:create",
      summary: "Create a dashboard",
      auditFields: ["title"],
      body: schema.sectionCreate,
      out: { 200: schema.section },
      async handler({ body, principal: { workspaceId }, c }) {
        return c.json(await readSection(workspaceId, await change.createSection(deps, workspaceId, body)));
      },
    }),
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
          const { title, sections } = await readPrebuilt(deps, workspaceId, body.session_id);
          return c.json(
            await readSection(workspaceId, await change.clonePrebuilt(deps, workspaceId, `Copy of ${title}`, sections)),
          );
        }
        const section = await readSection(workspaceId, body.section_id!);
        const charts = await rows.listCharts(sql, workspaceId, { section: section.id });
        const copy = { title: `Copy of ${section.title}`.slice(0, 512), description: section.description };
        return c.json(await readSection(workspaceId, await change.createSection(deps, workspaceId, copy, charts)));
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/charts/section/:section_id"),
      permission: "charts:read",
      summary: "Get a dashboard with its charts and their data",
      params: schema.sectionParams,
      body: schema.sectionBody,
      out: { 200: schema.sectionWithCharts },
      errors: [400],
      async handler({ params, body, principal, c }) {
        const { workspaceId } = principal;
        await checkCommon(principal, body.common_filters);
        const section = await readSection(workspaceId, params.section_id);
        const charts = await rows.listCharts(sql, workspaceId, { section: section.id });
        const shown = filterCharts(groupSeries(charts, body.group_by), body.common_filters);
        return c.json(toSection(section, await withData(workspaceId, shown, body)) satisfies SectionWithCharts);
      },
    }),
    route({
      tag,
      method: "PATCH",
      ...v1("/charts/section/:section_id"),
      permission: "charts:update",
      summary: "Change a dashboard",
      params: schema.sectionParams,
      body: schema.sectionPatch,
      out: { 200: schema.section },
      async handler({ params, body, principal: { workspaceId }, c }) {
        const found = await rows.updateSection(sql, workspaceId, params.section_id, body);
        if (!found) throw notFound(change.SECTION_NOT_FOUND);
        return c.json(await readSection(workspaceId, params.section_id));
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/charts/section/:section_id"),
      permission: "charts:delete",
      summary: "Delete a dashboard and its charts",
      params: schema.sectionParams,
      out: { 200: z.object({}) },
      async handler({ params, principal, c }) {
        if (!(await rows.deleteSection(sql, principal.workspaceId, params.section_id))) {
          throw notFound(change.SECTION_NOT_FOUND);
        }
        return c.json({});
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/charts"),
      permission: "charts:read",
      summary: "Get all dashboards with their charts and their data",
      body: schema.chartsBody,
      out: { 200: schema.sections },
      errors: [400],
      async handler({ body, principal: { workspaceId }, c }) {
        const tags = body.tag_value_id ?? undefined;
        const sections = await rows.listSections(sql, workspaceId, { tag_value_id: tags });
        const shown = new Set(sections.map((section) => section.id));
        const all = await rows.listCharts(sql, workspaceId, { after: body.after_index });
        const charts = tags ? all.filter((chart) => shown.has(chart.section_id)) : all;
        const data = await withData(workspaceId, charts, body);
        return c.json({
          sections: sections.map((section) =>
            toSection(
              section,
              data.filter((_, i) => charts[i]!.section_id === section.id),
            ),
          ),
        });
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/charts/preview"),
      permission: "charts:read",
      summary: "Get the data of a chart without creating it",
      body: schema.previewBody,
      out: { 200: schema.chartData },
      errors: [400, 404],
      async handler({ body: { chart, bucket_info: period }, principal, c }) {
        requireRuns(principal);
        const { workspaceId } = principal;
        await change.checkCharted(deps, workspaceId, chart.series, chart.common_filters);
        const series = chart.series.map((one) => change.storeSeries(one, [one.id]));
        const [data] = await readCharts(
          deps,
          workspaceId,
          [{ series, common_filters: chart.common_filters ?? null }],
          period,
        );
        return c.json({ data: data! });
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/charts/create"),
      permission: "charts:create",
      summary: "Create a chart",
      auditFields: ["title"],
      body: schema.createBody,
      out: { 200: schema.chart },
      errors: [400, 404],
      async handler({ body, principal: { workspaceId }, c }) {
        return c.json(await readChart(workspaceId, await change.createChart(deps, workspaceId, body)));
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/charts/:chart_id"),
      permission: "charts:read",
      summary: "Get a chart with its data",
      params: schema.chartParams,
      body: schema.chartsBody,
      out: { 200: schema.chartWithData },
      errors: [400],
      async handler({ params, body, principal: { workspaceId }, c }) {
        const [chart] = await withData(workspaceId, [await readChart(workspaceId, params.chart_id)], body);
        return c.json(chart!);
      },
    }),
    route({
      tag,
      method: "PATCH",
      ...v1("/charts/:chart_id"),
      permission: "charts:update",
      summary: "Change a chart, or move it to another dashboard",
      params: schema.chartParams,
      body: schema.patchBody,
      out: { 200: schema.chart },
      errors: [400],
      async handler({ params, body, principal: { workspaceId }, c }) {
        await change.updateChart(deps, workspaceId, params.chart_id, body);
        return c.json(await readChart(workspaceId, params.chart_id));
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/charts/:chart_id"),
      permission: "charts:delete",
      summary: "Delete a chart",
      params: schema.chartParams,
      out: { 200: z.object({}) },
      async handler({ params, principal, c }) {
        if (!(await rows.deleteChart(sql, principal.workspaceId, params.chart_id)))
          throw notFound(change.CHART_NOT_FOUND);
        return c.json({});
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/sessions/:session_id/dashboard"),
      permission: "charts:read",
      summary: "Get a project's own dashboard with its data",
      params: schema.sessionParams,
      body: schema.sectionBody,
      out: { 200: schema.sectionWithCharts },
      errors: [400],
      async handler({ params: { session_id: id }, body, principal, c }) {
        const { workspaceId } = principal;
        await checkCommon(principal, body.common_filters);
        const { title, sections } = await readPrebuilt(deps, workspaceId, id);
        const own = sections.flatMap((section) => section.charts);
        const charts = filterCharts(groupSeries(own, body.group_by), body.common_filters);
        const data = await withData(workspaceId, charts, body);
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

const toSection = (
  { id, title, description, index }: schema.Section,
  charts: schema.ChartWithData[],
): SectionWithCharts => ({ id, title, description, index, session_id: null, charts, sub_sections: null });
