import { z } from "zod";

import type { Permission } from "../../base/auth/permissions.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import * as change from "./change-charts.ts";
import { filterCharts, groupSeries } from "./chart-data.ts";
import type { ChartScope } from "./chart-scopes.ts";
import { requireRuns } from "./require-runs.ts";
import * as schema from "./schema.ts";
import type { Chart, Period, SectionWithCharts } from "./schema.ts";
import * as rows from "./sql.ts";

const tag = "Dashboards";

/** Routes of dashboards, which the API calls sections, and of their charts. */
export function chartRoutes(deps: TraceDeps, scope: ChartScope): Route[] {
  const { sql } = deps;
  const { root, of, owner } = scope;
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
  const withData = async (principal: Principal, charts: readonly Chart[], period: Period, needed?: Permission[]) => {
    const data = await scope.read(principal, charts, period, needed);
    return charts.map(({ section_id: _section, ...chart }, i) => ({ ...chart, data: data[i]! }));
  };

  /** Checks the filters and the grouping that a reader adds. @returns the permissions that reading needs for them */
  const checkOwn = async (principal: Principal, { common_filters: filters, group_by: by }: schema.SectionBody) => {
    if (!filters && !by) return [];
    requireRuns(principal);
    if (filters) await scope.check(principal, [], filters);
    return ["runs:read" as const];
  };

  return [
    route({
      tag,
      method: "GET",
      ...v1(`${root}/section`),
      permission: "charts:read",
      summary: `List dashboards${of}`,
      query: schema.listQuery,
      out: { 200: z.array(schema.section) },
      handler: async ({ query, principal, c }) => c.json(await rows.listSections(sql, owner(principal), query)),
    }),
    route({
      tag,
      method: "POST",
      ...v1(`${root}/section`),
      permission: scope.permissions.create,
      summary: `Create a dashboard${of}`,
      auditFields: ["title"],
      body: schema.sectionCreate,
      out: { 200: schema.section },
      async handler({ body, principal, c }) {
        return c.json(await readSection(owner(principal), await change.createSection(deps, owner(principal), body)));
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1(`${root}/section/:section_id`),
      permission: "charts:read",
      summary: `Get a dashboard with its charts and their data${of}`,
      params: schema.sectionParams,
      body: schema.sectionBody,
      out: { 200: schema.sectionWithCharts },
      errors: [400],
      async handler({ params, body, principal, c }) {
        const needed = await checkOwn(principal, body);
        const section = await readSection(owner(principal), params.section_id);
        const charts = await rows.listCharts(sql, owner(principal), { section: section.id });
        const shown = filterCharts(groupSeries(charts, body.group_by), body.common_filters);
        return c.json(toSection(section, await withData(principal, shown, body, needed)) satisfies SectionWithCharts);
      },
    }),
    route({
      tag,
      method: "PATCH",
      ...v1(`${root}/section/:section_id`),
      permission: scope.permissions.update,
      summary: `Change a dashboard${of}`,
      params: schema.sectionParams,
      body: schema.sectionPatch,
      out: { 200: schema.section },
      async handler({ params, body, principal, c }) {
        const found = await rows.updateSection(sql, owner(principal), params.section_id, body);
        if (!found) throw notFound(change.SECTION_NOT_FOUND);
        return c.json(await readSection(owner(principal), params.section_id));
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...v1(`${root}/section/:section_id`),
      permission: scope.permissions.delete,
      summary: `Delete a dashboard and its charts${of}`,
      params: schema.sectionParams,
      out: { 200: z.object({}) },
      async handler({ params, principal, c }) {
        if (!(await rows.deleteSection(sql, owner(principal), params.section_id))) {
          throw notFound(change.SECTION_NOT_FOUND);
        }
        return c.json({});
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1(root),
      permission: "charts:read",
      summary: `Get all dashboards with their charts and their data${of}`,
      body: schema.chartsBody,
      out: { 200: schema.sections },
      errors: [400],
      async handler({ body, principal, c }) {
        const tags = body.tag_value_id ?? undefined;
        const sections = await rows.listSections(sql, owner(principal), { tag_value_id: tags });
        const shown = new Set(sections.map((section) => section.id));
        const all = await rows.listCharts(sql, owner(principal), { after: body.after_index });
        const charts = tags ? all.filter((chart) => shown.has(chart.section_id)) : all;
        const data = await withData(principal, charts, body);
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
      ...v1(`${root}/preview`),
      permission: "charts:read",
      summary: `Get the data of a chart without creating it${of}`,
      body: schema.previewBody,
      out: { 200: schema.chartData },
      errors: [400, 404],
      async handler({ body: { chart, bucket_info: period }, principal, c }) {
        requireRuns(principal);
        await scope.check(principal, chart.series, chart.common_filters);
        const series = chart.series.map((one) => change.storeSeries(one, [one.id]));
        const shown = { series, common_filters: chart.common_filters ?? null };
        const [data] = await scope.read(principal, [shown], period, ["runs:read"]);
        return c.json({ data: data! });
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1(`${root}/create`),
      permission: scope.permissions.create,
      summary: `Create a chart${of}`,
      auditFields: ["title"],
      body: schema.createBody,
      out: { 200: schema.chart },
      errors: [400, 404],
      async handler({ body, principal, c }) {
        await scope.check(principal, body.series, body.common_filters);
        return c.json(await readChart(owner(principal), await change.createChart(deps, owner(principal), body)));
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1(`${root}/:chart_id`),
      permission: "charts:read",
      summary: `Get a chart with its data${of}`,
      params: schema.chartParams,
      body: schema.chartsBody,
      out: { 200: schema.chartWithData },
      errors: [400],
      async handler({ params, body, principal, c }) {
        const [chart] = await withData(principal, [await readChart(owner(principal), params.chart_id)], body);
        return c.json(chart!);
      },
    }),
    route({
      tag,
      method: "PATCH",
      ...v1(`${root}/:chart_id`),
      permission: scope.permissions.update,
      summary: `Change a chart, or move it to another dashboard${of}`,
      params: schema.chartParams,
      body: schema.patchBody,
      out: { 200: schema.chart },
      errors: [400],
      async handler({ params, body, principal, c }) {
        await scope.check(principal, body.series ?? [], body.common_filters);
        await change.updateChart(deps, owner(principal), params.chart_id, body);
        return c.json(await readChart(owner(principal), params.chart_id));
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...v1(`${root}/:chart_id`),
      permission: scope.permissions.delete,
      summary: `Delete a chart${of}`,
      params: schema.chartParams,
      out: { 200: z.object({}) },
      async handler({ params, principal, c }) {
        if (!(await rows.deleteChart(sql, owner(principal), params.chart_id))) throw notFound(change.CHART_NOT_FOUND);
        return c.json({});
      },
    }),
  ];
}

const toSection = (
  { id, title, description, index }: schema.Section,
  charts: schema.ChartWithData[],
): SectionWithCharts => ({ id, title, description, index, session_id: null, charts, sub_sections: null });
