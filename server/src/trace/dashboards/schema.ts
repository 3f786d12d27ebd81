import { z } from "zod";

import {
  jsonObject,
  notBuilt,
  queryBoolean,
  queryLimit,
  queryMany,
  queryOffset,
  storableText,
  timestamp,
  uuid,
} from "../../base/http/fields.ts";
import { MAX_GROUPS } from "./series-request.ts";
import { SERIES_METRICS } from "./series-metrics.ts";

/** Contract: `CustomCharts…`. A section is a dashboard. Metrics and attributes beyond the contract are Heddle's own. */

/** Charts of a dashboard and dashboards of a workspace, at most: both are read whole. */
export const MAX_CHARTS = 100;
export const MAX_SECTIONS = 500;
const MAX_SERIES = 20;
export const MAX_TITLE = 512;

const title = storableText.trim().min(1).max(MAX_TITLE);
const description = storableText.max(20_000);
const index = z.int().min(0).max(100);
const metadata = jsonObject.refine((value) => JSON.stringify(value).length <= 16_384, "must be at most 16 KiB of JSON");
const expression = storableText.max(65_536);

const filters = z.object({
  filter: expression.nullish(),
  trace_filter: expression.nullish(),
  tree_filter: expression.nullish(),
  session: z.array(uuid).max(100).nullish(),
});
export type ChartFilters = z.output<typeof filters>;

const ATTRIBUTES = [
  "name",
  "run_type",
  "tag",
  "metadata",
  "project",
  "error_kind",
  "model",
  "prompt_commit",
  "revision",
  "graph",
  "assistant",
  "status",
  "feedback",
] as const;

export const groupBy = z
  .object({
    attribute: z.enum(ATTRIBUTES),
    path: storableText.min(1).max(250).nullish(),
    max_groups: z
      .int()
      .min(1)
      .max(MAX_GROUPS)
      .nullish()
      .transform((n) => n ?? 5),
  })
  .refine(({ attribute, path }) => !["metadata", "feedback"].includes(attribute) || path != null, {
    path: ["path"],
    message: "must be a key of the metadata or of feedback",
  });

/** What a series is divided by: another metric, or other runs. Heddle's own. */
const denominator = z.object({
  metric: z.enum(SERIES_METRICS as [string, ...string[]]),
  filters: filters.nullish(),
  feedback_key: storableText.min(1).max(180).nullish(),
});

const seriesFields = {
  name: title,
  denominator: denominator.nullish(),
  filters: filters.nullish(),
  metric: z.enum(SERIES_METRICS as [string, ...string[]]),
  feedback_key: storableText.min(1).max(180).nullish(),
  workspace_id: uuid.nullish(),
  project_metric: notBuilt("project_metric", "metrics of deployments are at /metrics"),
  group_by: groupBy.nullish(),
};
const newSeries = z.object(seriesFields);
const keptSeries = z.object({ ...seriesFields, id: uuid.nullish() });
/** Series of a preview may have any id. */
const shownSeries = z.object({ ...seriesFields, id: z.string().max(100) });
const some = <T extends z.ZodType>(item: T) => z.array(item).min(1).max(MAX_SERIES);

const chartType = z.enum(["line", "bar"]);
const delta = z
  .object({
    days: z.int().min(0).max(366).default(0),
    hours: z.int().min(0).max(8784).default(0),
    minutes: z.int().min(0).max(527_040).default(0),
  })
  .refine(({ days, hours, minutes }) => days + hours + minutes > 0, "must be at least a minute");

const isZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

/** Which of the dashboards over a project's traces; Heddle's own. */
const prebuiltKind = z.enum(["project", "deployment"]);
export type PrebuiltKind = z.output<typeof prebuiltKind>;
const kind = prebuiltKind.nullish().transform((value) => value ?? "project");

const period = {
  timezone: z.string().max(100).refine(isZone, "must be a time zone, such as Europe/Berlin").default("UTC"),
  start_time: timestamp.nullish(),
  end_time: timestamp.nullish(),
  stride: delta.default({ days: 0, hours: 0, minutes: 15 }),
  omit_data: z.boolean().default(false),
};

const periodBody = z.object(period);
export type Period = z.output<typeof periodBody>;
export const chartsBody = z.object({
  ...period,
  after_index: z.int().nullish(),
  tag_value_id: z.array(uuid).max(100).nullish(),
});
/** `common_filters`: of the whole dashboard, beside those of its charts; Heddle's own. */
export const sectionBody = z.object({ ...period, group_by: groupBy.nullish(), common_filters: filters.nullish() });
export type SectionBody = z.output<typeof sectionBody>;

export const prebuiltBody = sectionBody.extend({ kind });

export const createBody = z
  .object({
    title,
    description: description.nullish(),
    index: index.nullish(),
    chart_type: chartType,
    series: some(newSeries),
    section_id: uuid.nullish(),
    metadata: metadata.nullish(),
    common_filters: filters.nullish(),
  })
  .meta({ id: "CustomChartCreate" });
export type ChartCreate = z.output<typeof createBody>;

/** Missing fields stay unchanged, as do those that the SDKs mark as missing. */
const missing = z.object({ __missing__: z.string() }).transform(() => undefined);
const unless = <T extends z.ZodType>(item: T) => z.union([missing, item]).optional();

export const patchBody = z
  .object({
    title: unless(title),
    description: unless(description.nullable()),
    index: unless(index),
    chart_type: unless(chartType),
    series: unless(some(keptSeries)),
    section_id: unless(uuid),
    metadata: unless(metadata.nullable()),
    common_filters: unless(filters.nullable()),
  })
  .meta({ id: "CustomChartUpdate" });
export type ChartPatch = z.output<typeof patchBody>;

export const previewBody = z.object({
  bucket_info: periodBody,
  chart: z.object({ series: some(shownSeries), common_filters: filters.nullish() }),
});

export const sectionCreate = z.object({
  title,
  description: description.nullish(),
  index: z.int().min(0).max(100_000).nullish(),
});
export const sectionPatch = z.object({
  title: unless(title),
  description: unless(description.nullable()),
  index: unless(z.int().min(0).max(100_000)),
});
export type SectionCreate = z.output<typeof sectionCreate>;
export type SectionPatch = z.output<typeof sectionPatch>;

export const cloneBody = z
  .object({ section_id: uuid.nullish(), session_id: uuid.nullish(), kind })
  .refine(
    ({ section_id: section, session_id: session }) => (section == null) !== (session == null),
    "name either section_id or session_id",
  );

export const listQuery = z.object({
  limit: queryLimit(100, 100),
  offset: queryOffset,
  title_contains: z.string().max(512).optional(),
  ids: queryMany(uuid, 100),
  sort_by: z.enum(["created_at", "modified_at", "title", "index"]).default("created_at"),
  sort_by_desc: queryBoolean.transform((value) => value ?? true),
  tag_value_id: queryMany(uuid, 100),
});
export type SectionSearch = z.output<typeof listQuery>;

export const chartParams = z.object({ chart_id: uuid });
export const sectionParams = z.object({ section_id: uuid });
export const sessionParams = z.object({ session_id: uuid });

const time = z.iso.datetime({ offset: true });
const shownGroupBy = z.object({
  attribute: z.enum(ATTRIBUTES),
  path: z.string().nullable(),
  max_groups: z.int(),
  set_by: z.enum(["section", "series"]).nullable(),
});
const storedSeries = z
  .object({
    id: z.string(),
    name: z.string(),
    metric: z.enum(SERIES_METRICS as [string, ...string[]]),
    denominator: denominator.nullish(),
    filters: filters.nullable(),
    feedback_key: z.string().nullable(),
    workspace_id: z.guid().nullable(),
    project_metric: z.string().nullable(),
    group_by: shownGroupBy.nullable(),
  })
  .meta({ id: "CustomChartSeries" });
export type StoredSeries = z.output<typeof storedSeries>;

const chartFields = {
  id: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  index: z.int(),
  chart_type: chartType,
  metadata: jsonObject.nullable(),
  series: z.array(storedSeries),
  common_filters: filters.nullable(),
};
export const chart = z.object({ ...chartFields, section_id: z.guid() }).meta({ id: "CustomChartResponse" });
export type Chart = z.output<typeof chart>;

const point = z.object({
  series_id: z.string(),
  timestamp: time,
  value: z.union([z.number(), jsonObject]).nullable(),
  group: z.string().nullable(),
});
export type DataPoint = z.output<typeof point>;

export const chartData = z.object({ data: z.array(point) });
export const chartWithData = z
  .object({
    ...chartFields,
    data: z.array(point),
    unfiltered_series: z
      .array(z.string())
      .optional()
      .describe("Heddle's own: series of agents to which the filter of the request does not apply"),
  })
  .meta({ id: "SingleCustomChartResponse" });
export type ChartWithData = z.output<typeof chartWithData>;

export const section = z
  .object({
    id: z.guid(),
    title: z.string(),
    description: z.string().nullable(),
    index: z.int(),
    chart_count: z.int(),
    created_at: time,
    modified_at: time,
  })
  .meta({ id: "CustomChartsSectionResponse" });
export type Section = z.output<typeof section>;

export const sectionWithCharts = z
  .object({
    id: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    index: z.int().nullable(),
    session_id: z.guid().nullable(),
    charts: z.array(chartWithData),
    sub_sections: z
      .array(
        z.object({
          id: z.string(),
          title: z.string(),
          description: z.string().nullable(),
          index: z.int(),
          charts: z.array(chartWithData),
        }),
      )
      .nullable(),
  })
  .meta({ id: "CustomChartsSection" });
export type SectionWithCharts = z.output<typeof sectionWithCharts>;
export const sections = z.object({ sections: z.array(sectionWithCharts) });
