/** Creation and change of dashboards and charts. Writers of a workspace take turns. */
import type { Transaction } from "../../base/db/connect.ts";
import { notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { readFilter } from "../filter/read-filter.ts";
import { checkProjects } from "../runs/query-runs.ts";
import { RunScope } from "../runs/run-scope.ts";
import { appliesToAgents } from "./agent-filter.ts";
import { groupsAgents, isOfAgents } from "./agent-metrics.ts";
import type { PrebuiltSection } from "./prebuilt.ts";
import {
  type Chart,
  type ChartCreate,
  type ChartFilters,
  type ChartPatch,
  MAX_CHARTS,
  MAX_SECTIONS,
  MAX_TITLE,
  type SectionCreate,
  type StoredSeries,
} from "./schema.ts";
import { isDistribution } from "./series-metrics.ts";
import * as rows from "./sql.ts";

/** Dashboard of charts that were created without one. */
const DEFAULT_SECTION = "Charts";

export const SECTION_NOT_FOUND = "Section not found";
export const CHART_NOT_FOUND = "Chart not found";

export type NewSeries = ChartCreate["series"][number] & { id?: string | null | undefined };
type CheckedSeries = Omit<NewSeries, "project_metric">;

export async function createSection(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  body: SectionCreate,
  charts: readonly Chart[] = [],
): Promise<string> {
  const id = uuid7();
  await sql.begin(async (tx) => {
    await rows.lockDashboards(tx, tenantId);
    await addSection(tx, tenantId, id, body);
    for (const chart of charts) await rows.insertChart(tx, tenantId, copyOf(chart, id));
  });
  return id;
}

async function addSection(tx: Transaction, tenantId: string, id: string, body: SectionCreate): Promise<void> {
  const { n, next } = await rows.countSections(tx, tenantId);
  if (n >= MAX_SECTIONS) throw unprocessable(`The workspace has ${MAX_SECTIONS} dashboards. Delete some first.`);
  const { title, description = null, index } = body;
  await rows.insertSection(tx, tenantId, { id, title, description, index: index ?? next });
}

const copyOf = (chart: Chart, section_id: string): Chart => ({
  ...chart,
  id: uuid7(),
  section_id,
  series: chart.series.map((series) => ({ ...series, id: uuid7() })),
});

/** Copies a project's own dashboard; its sections become the charts' `metadata.section`. */
export const clonePrebuilt = (
  deps: Pick<TraceDeps, "sql">,
  tenantId: string,
  title: string,
  sections: readonly PrebuiltSection[],
): Promise<string> => {
  const charts = sections.flatMap(({ title: section, charts }) =>
    charts.map((chart) => ({ ...chart, metadata: { ...chart.metadata, section } })),
  );
  return createSection(
    deps,
    tenantId,
    { title: title.slice(0, MAX_TITLE) },
    charts.slice(0, MAX_CHARTS).map((chart, index) => ({ ...chart, index })),
  );
};

/** @returns the id of a chart that was checked. @throws 404 for an unknown section, 422 when the section is full */
export async function createChart(deps: Pick<TraceDeps, "sql">, tenantId: string, body: ChartCreate): Promise<string> {
  const id = uuid7();
  await deps.sql.begin(async (tx) => {
    await rows.lockDashboards(tx, tenantId);
    const section_id = body.section_id ?? (await defaultSection(tx, tenantId));
    if (!(await rows.findSection(tx, tenantId, section_id))) throw notFound(SECTION_NOT_FOUND);
    const next = await freePlace(tx, tenantId, section_id);
    await rows.insertChart(tx, tenantId, {
      id,
      section_id,
      title: body.title,
      description: body.description ?? null,
      index: body.index ?? next,
      chart_type: body.chart_type,
      series: body.series.map((series) => storeSeries(series, [])),
      metadata: body.metadata ?? null,
      common_filters: body.common_filters ?? null,
    });
  });
  return id;
}

async function defaultSection(tx: Transaction, tenantId: string): Promise<string> {
  const found = await rows.findSectionByTitle(tx, tenantId, DEFAULT_SECTION);
  if (found !== undefined) return found;
  const id = uuid7();
  await addSection(tx, tenantId, id, { title: DEFAULT_SECTION });
  return id;
}

async function freePlace(tx: Transaction, tenantId: string, section: string): Promise<number> {
  const { n, next } = await rows.countCharts(tx, tenantId, section);
  if (n >= MAX_CHARTS) throw unprocessable(`The dashboard has ${MAX_CHARTS} charts. Delete some, or use another one.`);
  return next;
}

/** Changes a chart; the change was checked by itself. @throws 404 for an unknown chart or section, 422 as `checkSeries` */
export async function updateChart(
  deps: Pick<TraceDeps, "sql">,
  tenantId: string,
  id: string,
  patch: ChartPatch,
): Promise<void> {
  await deps.sql.begin(async (tx) => {
    await rows.lockDashboards(tx, tenantId);
    const chart = await rows.findChart(tx, tenantId, id);
    if (!chart) throw notFound(CHART_NOT_FOUND);
    const section = patch.section_id ?? chart.section_id;
    if (section !== chart.section_id) {
      if (!(await rows.findSection(tx, tenantId, section))) throw notFound(SECTION_NOT_FOUND);
      await freePlace(tx, tenantId, section);
    }
    const { series: given = chart.series, common_filters: common = chart.common_filters } = patch;
    if (patch.series || patch.common_filters) checkSeries(given, common);
    const known = chart.series.map((series) => series.id);
    const series = patch.series?.map((one) => storeSeries(one, known));
    await rows.updateChart(tx, tenantId, id, { ...patch, series });
    await rows.touch(tx, tenantId, section);
  });
}

/** A series keeps its id; unknown ids are replaced, because a series belongs to one chart. */
export function storeSeries(series: NewSeries, known: readonly string[]): StoredSeries {
  const { id, name, metric, denominator, filters, feedback_key, workspace_id, group_by: by } = series;
  return {
    id: id != null && known.includes(id) ? id : uuid7(),
    name,
    metric: metric as StoredSeries["metric"],
    ...(denominator && { denominator }),
    filters: filters ?? null,
    feedback_key: feedback_key ?? null,
    workspace_id: workspace_id ?? null,
    project_metric: null,
    group_by: by ? { ...by, path: by.path ?? null, set_by: "series" } : null,
  };
}

/** @throws FilterError (400), 404 for an unknown project, 422 for a series of another workspace */
export async function checkCharted(
  deps: TraceDeps,
  tenantId: string,
  series: readonly NewSeries[],
  common: ChartFilters | null | undefined,
): Promise<void> {
  checkSeries(series, common);
  const foreign = series.find(({ workspace_id: id }) => id != null && id !== tenantId);
  if (foreign) throw unprocessable(`series "${foreign.name}": workspace_id must be the workspace of the request`);
  const projects = [...new Set(filtersOf(series, common).flatMap((one) => one?.session ?? []))];
  await checkProjects(deps, RunScope.ofTenant(tenantId), projects);
}

/** @throws 422 for a series of agents with a filter or a grouping of runs */
function checkOfAgents(
  name: string,
  metric: string,
  filters: readonly (ChartFilters | null | undefined)[],
  by: NewSeries["group_by"],
): void {
  if (!isOfAgents(metric)) {
    if (by?.attribute === "status")
      throw unprocessable(`series "${name}": only metrics of agents are grouped by status; group runs by error_kind`);
    return;
  }
  if (filters.some((one) => one && !appliesToAgents(one, metric)))
    throw unprocessable(
      `series "${name}": ${metric} is of agents, and the filter is about runs; agents have projects, and some metrics the status and the metadata graph_id and assistant_id`,
    );
  if (by && !groupsAgents(by.attribute))
    throw unprocessable(
      `series "${name}": ${metric} is grouped by graph, assistant, status or project, not by ${by.attribute}`,
    );
}

const filtersOf = (series: readonly CheckedSeries[], common: ChartFilters | null | undefined) => [
  common,
  ...series.flatMap((one) => [one.filters, one.denominator?.filters]),
];

/** @throws FilterError (400), and 422 for metrics of agents with filters or groups of runs */
export function checkSeries(series: readonly CheckedSeries[], common: ChartFilters | null | undefined): void {
  for (const one of filtersOf(series, common)) {
    for (const text of [one?.filter, one?.trace_filter, one?.tree_filter]) if (text) readFilter(text);
  }
  for (const { name, metric, filters, group_by: by } of series) checkOfAgents(name, metric, [filters, common], by);
  for (const { name, metric, denominator: d } of series) {
    if (!d) continue;
    checkOfAgents(name, d.metric, [d.filters, common], null);
    const distribution = [metric, d.metric].find(isDistribution);
    if (distribution !== undefined)
      throw unprocessable(`series "${name}": ${distribution} is a distribution, and only numbers are divided`);
  }
}
