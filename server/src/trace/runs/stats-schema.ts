import { z } from "zod";

import { jsonObject } from "../../base/http/fields.ts";
import { selectionBody } from "./query-schema.ts";
import { type Metric, METRIC_NAMES } from "./stats.ts";
import { DETAIL_COLUMNS } from "./trace-totals.ts";

/** Contract trace-platform §3.4. */

const NAMED = [
  ...METRIC_NAMES,
  ...DETAIL_COLUMNS,
  "feedback_stats",
  "thread_feedback_stats",
  "session_feedback_stats",
  "run_facets",
  "all_run_stats",
  "all_token_stats",
] as const;

const groupBy = z
  .object({
    attribute: z.enum(["name", "run_type", "tag", "metadata", "error_kind"]),
    /** Metadata key, if the attribute is metadata. */
    path: z.string().min(1).max(250).nullish(),
    max_groups: z
      .int()
      .min(1)
      .max(1000)
      .nullish()
      .transform((n) => n ?? 5),
  })
  .refine(({ attribute, path }) => attribute !== "metadata" || path != null, {
    path: ["path"],
    message: "must be a metadata key",
  })
  .nullish();

export const statsBody = selectionBody.extend({
  group_by: groupBy,
  groups: z.array(z.string().nullable()).max(1000).nullish(),
  select: z.array(z.enum(NAMED)).max(100).nullish(),
  skip_pagination: z.boolean().nullish(),
});
export type StatsBody = z.output<typeof statsBody>;

const statistic = z.number().nullish();
const details = z.record(z.string(), z.number()).nullish();

export const stats = z
  .object({
    run_count: statistic,
    latency_p50: statistic,
    latency_p95: statistic,
    latency_p99: statistic,
    latency_avg: statistic,
    first_token_p50: statistic,
    first_token_p95: statistic,
    first_token_p99: statistic,
    total_tokens: statistic,
    prompt_tokens: statistic,
    completion_tokens: statistic,
    median_tokens: statistic,
    tokens_p99: statistic,
    prompt_tokens_p50: statistic,
    prompt_tokens_p99: statistic,
    completion_tokens_p50: statistic,
    completion_tokens_p99: statistic,
    total_cost: statistic,
    prompt_cost: statistic,
    completion_cost: statistic,
    cost_p50: statistic,
    cost_p99: statistic,
    last_run_start_time: z.string().nullish(),
    error_rate: statistic,
    streaming_rate: statistic,
    prompt_token_details: details,
    completion_token_details: details,
    prompt_cost_details: details,
    completion_cost_details: details,
    feedback_stats: jsonObject.nullish(),
    /** Always empty: feedback is on runs and projects. */
    thread_feedback_stats: jsonObject.nullish(),
    session_feedback_stats: jsonObject.nullish(),
    run_facets: z.array(jsonObject).nullish(),
  })
  .meta({ id: "RunStats" });
export type Stats = z.output<typeof stats>;

/** Maximum number of points of a timeline, over all groups. */
export const MAX_POINTS = 10_000;

/**
 * Body of a timeline request. Not in the contract: the reference implementation computes statistics for stored charts
 * only.
 */
export const timelineBody = selectionBody.extend({
  bucket_seconds: z
    .int()
    .min(1)
    .max(366 * 86_400)
    .describe("Length of a bucket in seconds; buckets begin at multiples of it since 1970, in UTC."),
  group_by: groupBy,
  select: z
    .array(z.enum([...METRIC_NAMES, "feedback_stats"]))
    .max(100)
    .nullish(),
});
export type TimelineBody = z.output<typeof timelineBody>;

const point = stats.pick(Object.fromEntries(METRIC_NAMES.map((name) => [name, true])) as Record<Metric, true>).extend({
  start: z.string().describe("Start of the bucket, UTC"),
});

export const timeline = z.object({
  bucket_seconds: z.int(),
  series: z
    .array(z.object({ group: z.string(), points: z.array(point) }))
    .describe(
      "Groups by descending number of runs; without grouping, a single unnamed group. Empty buckets are omitted.",
    ),
  feedback: z.array(
    z.object({
      group: z.string(),
      key: z.string(),
      points: z.array(z.object({ start: z.string(), n: z.int(), avg: z.number().nullable() })),
    }),
  ),
});
export type Timeline = z.output<typeof timeline>;

/** Body of a histogram request. Not in the contract. */
export const histogramBody = selectionBody.extend({
  field: z.enum(["latency", "total_cost"]).describe("Latency in seconds, or cost in dollars, of the runs themselves"),
});
export type HistogramBody = z.output<typeof histogramBody>;

export const histogram = z.object({
  field: z.enum(["latency", "total_cost"]),
  bins: z
    .array(z.object({ from: z.number(), to: z.number(), n: z.int() }))
    .describe("Bins by ascending value, eight per factor of ten; empty ones are omitted. Values are >= from and < to."),
});
export type Histogram = z.output<typeof histogram>;
