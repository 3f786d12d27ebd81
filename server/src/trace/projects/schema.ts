import { z } from "zod";

import {
  isoTime,
  jsonObject,
  queryBoolean,
  queryLimit,
  queryMany,
  queryOffset,
  storableText,
  timestamp,
  uuid,
} from "../../base/http/fields.ts";
import { parseJson } from "../../base/json-structure.ts";
import { bounded } from "../runs/query-schema.ts";

/** Projects, as the LangSmith API has them. "Session" on the wire, "project" in texts for users. */

export const traceTier = z.enum(["longlived", "shortlived"]);

const name = storableText.min(1).max(2000);

/** Experiment data sent by evaluate(). */
const experimentFields = {
  num_examples: z.int().min(0).max(2_147_483_647).nullish(),
  num_repetitions: z.int().min(0).max(2_147_483_647).nullish(),
  evaluator_keys: z.array(storableText).max(1000).nullish(),
};

const changeable = {
  description: storableText.nullish(),
  extra: jsonObject.nullish(),
  end_time: timestamp.nullish(),
  default_dataset_id: uuid.nullish(),
  trace_tier: traceTier.nullish(),
  retention_days: z.int().min(1).max(36_500).nullish(),
  incomplete_after_hours: z.int().min(1).max(8760).nullish(),
};

export const createBody = z.object({
  ...changeable,
  ...experimentFields,
  id: uuid.nullish(),
  name: name.nullish(),
  start_time: timestamp.nullish(),
  reference_dataset_id: uuid.nullish(),
  tag_value_ids: z.array(uuid).max(100).nullish(),
});
export type CreateBody = z.output<typeof createBody>;

export const createQuery = z.object({ upsert: queryBoolean });

/**
 * Null means no change, because the JavaScript client sends it for every missing field. Exceptions: for retention_days
 * and incomplete_after_hours, which no client knows, null means the default.
 */
export const updateBody = z.object({ ...changeable, name: name.nullish() });
export type UpdateBody = z.output<typeof updateBody>;

export const projectParams = z.object({ session_id: uuid });

const SORTS = [
  "name",
  "start_time",
  "last_run_start_time",
  "latency_p50",
  "latency_p99",
  "error_rate",
  "feedback",
  "runs_count",
] as const;

/** Parameter that is documented but not built: rejected, not ignored. */
const notBuilt = (field: string) => z.undefined(`"${field}" is not supported yet; leave it out`).optional();

const statsFields = {
  include_stats: queryBoolean,
  stats_start_time: bounded(isoTime).optional(),
  stats_filter: z.string().optional(),
  stats_select: queryMany(z.string(), 100),
  // optimizations of the hosted service, accepted without effect
  use_approx_stats: queryBoolean,
};

export const readQuery = z.object(statsFields);

export const listQuery = z.object({
  ...statsFields,
  id: queryMany(uuid),
  name: z.string().optional(),
  name_contains: z.string().optional(),
  reference_free: queryBoolean,
  reference_dataset: queryMany(uuid),
  dataset_version: z.string().optional(),
  metadata: z
    .string()
    .optional()
    .transform((text, ctx): Record<string, unknown> | undefined => {
      if (text === undefined || text === "") return undefined;
      try {
        return jsonObject.parse(parseJson(text));
      } catch {
        ctx.addIssue("must be a JSON object as text");
        return z.NEVER;
      }
    }),
  filter: z.string().max(10_000).optional(),
  /** Whether to return facets of the projects' runs, with the statistics. */
  facets: queryBoolean,
  tag_value_id: queryMany(uuid, 100),
  sort_by: z.enum(SORTS).optional(),
  sort_by_desc: queryBoolean,
  sort_by_feedback_key: z.string().optional(),
  sort_by_feedback_source: notBuilt("sort_by_feedback_source"),
  limit: queryLimit(100, 100),
  offset: queryOffset,
});
export type ListQuery = z.output<typeof listQuery>;

/** `dataset_copies`: also the examples made of runs of the projects. */
export const deleteOneQuery = z.object({ dataset_copies: z.stringbool().optional() });
export const deleteQuery = deleteOneQuery.extend({ session_ids: queryMany(uuid, 100) });

/** Times are UTC without a suffix and with six digits. */
const naiveTime = z.string();

export const project = z
  .object({
    id: uuid,
    tenant_id: uuid,
    name: z.string(),
    description: z.string().nullable(),
    extra: jsonObject.nullable(),
    start_time: naiveTime,
    end_time: naiveTime.nullable(),
    default_dataset_id: uuid.nullable(),
    reference_dataset_id: uuid.nullable(),
    test_run_number: z.int().nullable(),
    trace_tier: traceTier.nullable(),
    retention_days: z.int().nullable(),
    incomplete_after_hours: z.int().nullable(),
    last_run_start_time_live: naiveTime.nullable(),
  })
  .meta({ id: "TracerSessionWithoutStats" });

const count = z.number().nullish();
const decimal = z.string().nullish();

/** Statistics over the project's runs; only with `include_stats`. */
export const projectWithStats = project
  .extend({
    run_count: count,
    latency_p50: count,
    latency_p99: count,
    first_token_p50: count,
    first_token_p99: count,
    total_tokens: count,
    prompt_tokens: count,
    completion_tokens: count,
    total_cost: decimal,
    prompt_cost: decimal,
    completion_cost: decimal,
    last_run_start_time: naiveTime.nullish(),
    feedback_stats: jsonObject.nullish(),
    session_feedback_stats: jsonObject.nullish(),
    run_facets: z.array(jsonObject).nullish(),
    error_rate: count,
    streaming_rate: count,
  })
  .meta({ id: "TracerSession" });

export const metadataQuery = z.object({
  metadata_keys: queryMany(z.string(), 100),
  start_time: bounded(isoTime).optional(),
  k: queryLimit(10, 100),
  root_runs_only: queryBoolean,
});
