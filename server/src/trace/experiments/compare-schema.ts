import { z } from "zod";

import { jsonObject, limit, queryLimit, queryMany, uuid } from "../../base/http/fields.ts";
import { feedbackKey } from "../feedback-configs/schema.ts";
import { METRICS } from "./experiment-values.ts";

export const MAX_EXPERIMENTS = 10;
const metric = z.enum(METRICS);

/** A score by `key`, or a `metric`. */
const measure = { key: feedbackKey.optional(), metric: metric.optional() };
const exactlyOne = ({ key, metric: name }: { key?: string | undefined; metric?: string | undefined }) =>
  (key === undefined) !== (name === undefined);

/** Passes examples whose value in an experiment (any of them without `experiment_id`) differs so from the baseline's. */
const deltaFilter = z
  .object({
    ...measure,
    experiment_id: uuid.optional(),
    change: z.enum(["worse", "better", "different", "same"]),
    /** The absolute difference must be greater. */
    more_than: z.number().min(0).default(0),
  })
  .refine(exactlyOne, "needs either key or metric")
  .meta({ id: "ComparisonFilter" });

export const compareBody = z
  .object({
    baseline: uuid.nullish(),
    experiments: z.array(uuid).min(1).max(MAX_EXPERIMENTS),
    keys: z.array(feedbackKey).min(1).max(100).nullish(),
    splits: z.array(z.string()).min(1).max(100).nullish(),
    filters: z.array(deltaFilter).max(20).default([]),
    sort: z
      .object({
        by: z.enum(["regressions", "improvements", "example", "value", "delta"]).default("regressions"),
        ...measure,
        experiment_id: uuid.optional(),
        descending: z.boolean().default(true),
      })
      .refine((sort) => !["value", "delta"].includes(sort.by) || exactlyOne(sort), "needs either key or metric")
      .prefault({}),
    /** `summary`: averages, differences and intervals. `rows`: a page of examples. */
    include: z
      .array(z.enum(["summary", "rows"]))
      .min(1)
      .default(["summary", "rows"]),
    limit: limit(50, 500),
    cursor: z
      .string()
      .regex(/^\d{1,9}$/, "is not a valid cursor")
      .nullish(),
  })
  .meta({ id: "ExperimentComparisonRequest" });

/** Both ends. */
const interval = z.array(z.number()).length(2).nullable();

const summary = z
  .object({
    /** Examples with a value. */
    examples: z.int(),
    mean: z.number().nullable(),
    interval,
    /** Null for the baseline, and where no example has both values. */
    delta: z
      .object({
        examples: z.int(),
        mean: z.number(),
        interval,
        better: z.int(),
        same: z.int(),
        worse: z.int(),
        verdict: z.enum(["better", "worse", "no_clear_difference", "too_few_examples"]),
      })
      .nullable(),
  })
  .meta({ id: "ComparisonSummary" });

const experimentSummary = z
  .object({
    id: z.guid(),
    name: z.string(),
    start_time: z.iso.datetime({ offset: true }),
    metadata: jsonObject.nullable(),
    is_baseline: z.boolean(),
    examples: z.int(),
    runs: z.int(),
    errors: z.int(),
    latency_p50: z.number().nullable(),
    latency_p95: z.number().nullable(),
    total_tokens: z.number().nullable(),
    total_cost: z.number().nullable(),
    scores: z.record(z.string(), summary),
    metrics: z.partialRecord(metric, summary),
  })
  .meta({ id: "ComparedExperiment" });

const values = z.record(z.string(), z.number().nullable());

const row = z
  .object({
    example_id: z.guid(),
    /** Beginning of the example's JSON; of the run's inputs when the example was deleted. */
    inputs_preview: z.string().nullable(),
    reference_preview: z.string().nullable(),
    /** By experiment; without those that have no run of the example. */
    results: z.record(
      z.guid(),
      z.object({
        run_id: z.guid(),
        runs: z.int(),
        outputs_preview: z.string().nullable(),
        error: z.string().nullable(),
        scores: values,
        score_deltas: values,
        metrics: values,
        metric_deltas: values,
      }),
    ),
  })
  .meta({ id: "ComparedExample" });

export const comparison = z
  .object({
    baseline: z.guid(),
    confidence: z.number(),
    /** Examples with a run in any of the experiments. */
    examples: z.int(),
    keys: z.array(z.object({ key: z.string(), lower_is_better: z.boolean() })),
    experiments: z.array(experimentSummary),
    rows: z.array(row),
    /** Examples that pass the filters. */
    total: z.int(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: "ExperimentComparison" });

export const baselineBody = z.object({ experiment_id: uuid.nullable() }).meta({ id: "DatasetBaseline" });
export const baselineAnswer = z.object({ dataset_id: z.guid(), baseline_experiment_id: z.guid().nullable() });

export const historyQuery = z.object({
  key: queryMany(feedbackKey, 50),
  limit: queryLimit(50, 200),
  before: z.iso.datetime({ offset: true }).optional(),
});

export const history = z
  .object({
    baseline_experiment_id: z.guid().nullable(),
    keys: z.array(z.object({ key: z.string(), lower_is_better: z.boolean() })),
    /** Oldest first. */
    experiments: z.array(
      z.object({
        id: z.guid(),
        name: z.string(),
        start_time: z.iso.datetime({ offset: true }),
        metadata: jsonObject.nullable(),
        runs: z.number(),
        error_rate: z.number().nullable(),
        latency_p50: z.number().nullable(),
        latency_p95: z.number().nullable(),
        total_tokens: z.number().nullable(),
        total_cost: z.number().nullable(),
        scores: z.record(z.string(), z.object({ examples: z.int(), mean: z.number(), interval })),
      }),
    ),
  })
  .meta({ id: "ExperimentHistory" });

export type CompareRequest = z.output<typeof compareBody>;
export type DeltaFilter = z.output<typeof deltaFilter>;
export type Summary = z.output<typeof summary>;
export type Comparison = z.output<typeof comparison>;
export type ComparedRow = z.output<typeof row>;
