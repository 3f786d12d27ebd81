import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { ApiError } from "../../api/api-error.ts";
import { data, traceApi } from "../../api/clients.ts";
import type { ChartMarker } from "../../ui/chart-props.ts";
import type { operations } from "../../api/trace.d.ts";
import { bucketSeconds, rangeBounds, type TimeRange } from "../../ui/time-range.ts";

type Answer<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;
type Body<Name extends keyof operations> = NonNullable<
  operations[Name] extends { requestBody?: { content: { "application/json": infer Request } } } ? Request : never
>;

export type Dashboard = Answer<"get_api_v1_charts_section">[number];
export type DashboardData = Answer<"post_api_v1_charts_section_section_id">;
export type ChartData = DashboardData["charts"][number];
export type DataPoint = ChartData["data"][number];
type Create = Body<"post_api_v1_charts_create">;
type Series = Omit<Create["series"][number], "project_metric"> & { id?: string };
export type ChartBody = Omit<Create, "series" | "index" | "section_id"> & { series: Series[]; section_id?: string };
export type ChartPatch = Partial<ChartBody> & { index?: number };
export type GroupBy = NonNullable<Body<"post_api_v1_charts_section_section_id">["group_by"]>;
export type Changes = Answer<"post_api_v1_charts_changes">;
export type Change = Changes["changes"][number];
export type Cause = Change["causes"][number];

/** Period of charts, as the API takes it. */
export interface Period {
  start_time: string;
  end_time: string;
  stride: { days: number; hours: number; minutes: number };
  timezone: string;
}

/** Whose a dashboard is. One of the organization shows the data of all workspaces that its reader may read. */
export type Owner = "workspace" | "organization";

/** Both have the same requests, which the document types separately. */
const pathOf = <Path extends string>(owner: Owner, path: Path): Path =>
  owner === "workspace" ? path : (path.replace("/charts", "/org-charts") as Path);

const REFRESH_MS = 30_000;
/** Steps of a chart. */
const MOST_STEPS = 72;

/** Returns a range as period; `isBefore`: the period of the same length before it. */
function periodOf(range: TimeRange, isBefore = false, now = Date.now()): Period {
  const bounds = rangeBounds(range, now);
  const minutes = Math.max(1, Math.ceil(bucketSeconds(range, bounds.to, MOST_STEPS) / 60));
  // a whole number of steps, so that those of both periods align
  const step = minutes * 60_000;
  const shift = isBefore ? Math.ceil((bounds.to - bounds.from) / step) * step : 0;
  return {
    start_time: new Date(bounds.from - shift).toISOString(),
    end_time: new Date(bounds.to - shift).toISOString(),
    stride: { days: 0, hours: 0, minutes },
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
  };
}

export const dashboardsQuery = (owner: Owner) =>
  queryOptions({
    queryKey: ["dashboards", "list", owner],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET(pathOf(owner, "/api/v1/charts/section"), {
          params: { query: { sort_by: "index", sort_by_desc: "false", limit: "100" } },
          signal,
        }),
      ),
  });

/** A project whose traces a prebuilt dashboard shows: its own, or that of the deployment. */
export interface PrebuiltSource {
  projectId: string;
  kind?: "deployment";
}
/** What a dashboard is read from: itself, or a project. */
export type Source = { dashboardId: string; owner: Owner } | PrebuiltSource;

/** Grouping and filter of all charts. */
export interface Common {
  groupBy?: GroupBy | undefined;
  filter?: string | undefined;
}

export const dashboardQuery = (source: Source, range: TimeRange, { groupBy, filter }: Common = {}, isBefore = false) =>
  queryOptions({
    queryKey: ["dashboards", "data", source, range, groupBy, filter, isBefore],
    queryFn: ({ signal }): Promise<DashboardData> => {
      const body = {
        ...periodOf(range, isBefore),
        ...(groupBy && { group_by: groupBy }),
        ...(filter !== undefined && { common_filters: { filter } }),
      };
      return "dashboardId" in source
        ? data(
            traceApi.POST(pathOf(source.owner, "/api/v1/charts/section/{section_id}"), {
              params: { path: { section_id: source.dashboardId } },
              body,
              signal,
            }),
          )
        : data(
            traceApi.POST("/api/v1/sessions/{session_id}/dashboard", {
              params: { path: { session_id: source.projectId } },
              body: { ...body, kind: source.kind ?? "project" },
              signal,
            }),
          );
    },
    placeholderData: keepPreviousData,
    refetchInterval: "last" in range ? REFRESH_MS : false,
    staleTime: 20_000,
  });

/** Incidents of alerts that began in the range, as marks in charts. Those who may not view alerts see none. */
export const incidentMarksQuery = (range: TimeRange) =>
  queryOptions({
    queryKey: ["dashboards", "incidents", range],
    async queryFn({ signal }): Promise<ChartMarker[]> {
      const { from, to } = rangeBounds(range, Date.now());
      const found = await traceApi
        .GET("/v1/platform/alert-incidents", { params: { query: { limit: "200" } }, signal })
        .catch((error: unknown) => {
          if (error instanceof ApiError && error.status === 403) return null;
          throw error;
        });
      return (found?.data ?? [])
        .filter(({ fired_at: at }) => Date.parse(at) >= from && Date.parse(at) < to)
        .map(({ fired_at: at, rule_name: name }) => ({ time: Date.parse(at) / 1000, label: `alert ${name}` }));
    },
    refetchInterval: "last" in range ? REFRESH_MS : false,
  });

/** Revisions whose first traces are in the range, as marks in charts; of these projects, or of all. */
export const revisionMarksQuery = (range: TimeRange, session: string[] | null) =>
  queryOptions({
    queryKey: ["dashboards", "events", range, session],
    async queryFn({ signal }): Promise<ChartMarker[]> {
      const { start_time, end_time } = periodOf(range);
      const { events } = await data(
        traceApi.POST("/api/v1/charts/events", { body: { start_time, end_time, session }, signal }),
      );
      return events.map(({ value, session_id, session_name, first_seen: at }) => ({
        time: Date.parse(at) / 1000,
        label: `new revision ${value.slice(0, 40)} of ${session_name}`,
        projectId: session_id,
      }));
    },
    refetchInterval: "last" in range ? REFRESH_MS : false,
    retry: false,
  });

/** Projects that a chart shows; null: all. */
export function projectsOf({ common_filters: common, series }: Pick<ChartData, "common_filters" | "series">) {
  if (common?.session?.length) return common.session;
  const own = series.map(({ filters }) => filters?.session ?? []);
  return own.some((ids) => ids.length === 0) ? null : own.flat();
}

/** The project of this name; null when there is none. */
export const projectNamedQuery = (name: string) =>
  queryOptions({
    queryKey: ["dashboards", "project", name],
    async queryFn({ signal }) {
      const found = await data(traceApi.GET("/api/v1/sessions", { params: { query: { name, limit: "1" } }, signal }));
      return found[0] ?? null;
    },
  });

export const changesQuery = (projectId: string, range: TimeRange) =>
  queryOptions({
    queryKey: ["dashboards", "changes", projectId, range],
    queryFn: ({ signal }) => {
      const { start_time, end_time } = periodOf(range);
      return data(
        traceApi.POST("/api/v1/charts/changes", { body: { session: [projectId], start_time, end_time }, signal }),
      );
    },
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  });

export const previewQuery = (owner: Owner, body: ChartBody, range: TimeRange) =>
  queryOptions({
    queryKey: ["dashboards", "preview", owner, body, range],
    queryFn: ({ signal }) =>
      data(
        traceApi.POST(pathOf(owner, "/api/v1/charts/preview"), {
          body: {
            bucket_info: periodOf(range),
            chart: {
              series: body.series.map((series, index) => ({ ...series, id: String(index) })),
              common_filters: body.common_filters ?? null,
            },
          },
          signal,
        }),
      ),
    retry: false,
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });

export const createDashboard = (owner: Owner, title: string) =>
  data(traceApi.POST(pathOf(owner, "/api/v1/charts/section"), { body: { title } }));
export const deleteDashboard = (owner: Owner, id: string) =>
  data(traceApi.DELETE(pathOf(owner, "/api/v1/charts/section/{section_id}"), { params: { path: { section_id: id } } }));
export const cloneDashboard = (source: { dashboardId: string } | PrebuiltSource) =>
  data(
    traceApi.POST("/api/v1/charts/section/clone", {
      body:
        "dashboardId" in source
          ? { section_id: source.dashboardId }
          : { session_id: source.projectId, kind: source.kind ?? "project" },
    }),
  );
export const createChart = (owner: Owner, body: ChartBody) =>
  data(traceApi.POST(pathOf(owner, "/api/v1/charts/create"), { body }));
export const updateChart = (owner: Owner, id: string, body: ChartPatch) =>
  data(traceApi.PATCH(pathOf(owner, "/api/v1/charts/{chart_id}"), { params: { path: { chart_id: id } }, body }));
export const deleteChart = (owner: Owner, id: string) =>
  data(traceApi.DELETE(pathOf(owner, "/api/v1/charts/{chart_id}"), { params: { path: { chart_id: id } } }));
