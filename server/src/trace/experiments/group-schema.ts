import { z } from "zod";

import { isoTime, jsonObject, limit, offset, uuid } from "../../base/http/fields.ts";
import { projectWithStats } from "../projects/schema.ts";
import { bounded } from "../runs/query-schema.ts";
import { exampleWithRuns, experimentRunsBody } from "./schema.ts";

export const groupBody = z
  .object({
    session_ids: z.array(uuid).min(1).max(20),
    group_by: z.enum(["run_metadata", "example_metadata"]),
    metadata_key: z.string().min(1).max(1000),
    filters: experimentRunsBody.shape.filters,
    preview: z.boolean().default(false),
    per_group_limit: limit(5, 10),
    offset,
    limit: limit(10, 50),
  })
  .meta({ id: "GroupedExamplesQuery" });

const statistics = {
  filter: z.string(),
  total_tokens: z.number().nullable(),
  total_cost: z.string().nullable(),
  min_start_time: z.string().nullable(),
  max_start_time: z.string().nullable(),
  latency_p50: z.number().nullable(),
  latency_p99: z.number().nullable(),
  prompt_tokens: z.number().nullable(),
  completion_tokens: z.number().nullable(),
  prompt_cost: z.string().nullable(),
  completion_cost: z.string().nullable(),
  error_rate: z.number().nullable(),
  feedback_stats: jsonObject.nullable(),
  example_count: z.int(),
};

export const groupedExamples = z
  .object({
    groups: z.array(
      z.object({
        ...statistics,
        group_key: z.union([z.string(), z.number()]),
        count: z.int(),
        sessions: z.array(projectWithStats.partial().extend({ id: uuid, ...statistics, run_count: z.int() })),
        examples: z.array(exampleWithRuns),
      }),
    ),
  })
  .meta({ id: "GroupedExamples" });

export const groupedExperimentsBody = z
  .object({
    metadata_keys: z.array(z.string().min(1).max(1000)).min(1).max(20),
    dataset_version: z.string().nullish(),
    experiment_limit: limit(1000, 1000),
    filter: z.string().max(10_000).nullish(),
    name_contains: z.string().nullish(),
    stats_start_time: bounded(isoTime).nullish(),
    tag_value_id: z.array(uuid).max(100).nullish(),
    // an optimization of the hosted service, accepted without effect
    use_approx_stats: z.boolean().nullish(),
  })
  .meta({ id: "GroupedExperimentsQuery" });

export type GroupQuery = z.output<typeof groupBody>;
export type GroupedExperimentsQuery = z.output<typeof groupedExperimentsBody>;
