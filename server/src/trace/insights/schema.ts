import { z } from "zod";

import {
  jsonObject,
  notBuilt,
  queryBoolean,
  queryLimit,
  queryOffset,
  storableText,
  timestamp,
  uuid,
} from "../../base/http/fields.ts";
import { bounded } from "../runs/query-schema.ts";

export const DEFAULT_SAMPLE = 1000;
export const MAX_SAMPLE = 10_000;
/** Longest period, and the one without settings, in hours. */
const MAX_HOURS = 24 * 366;
export const DEFAULT_HOURS = 24 * 7;

const modelName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[\x20-\x7e]+$/, "must be ASCII text");
const name = storableText.trim().min(1).max(255);
const decimal = z
  .union([z.number().min(0).max(1_000_000), z.string().regex(/^\d{1,7}(\.\d{1,12})?$/, "must be a decimal number")])
  .transform(String);

/** Empty objects say nothing, and clients send them. */
const notBuiltObject = (field: string) =>
  jsonObject.nullish().refine((value) => value == null || Object.keys(value).length === 0, {
    error: `"${field}" is not supported; leave it out`,
  });

const settings = {
  /** Own to Heddle: `questions` groups by what users asked, `failures` by errors and bad feedback. */
  subject: z.enum(["questions", "failures"]).nullish(),
  /** Own to Heddle: whether a trace or a thread counts once. */
  unit: z.enum(["roots", "threads"]).nullish(),
  start_time: bounded(timestamp).nullish(),
  end_time: bounded(timestamp).nullish(),
  last_n_hours: z.int().min(1).max(MAX_HOURS).nullish(),
  filter: storableText.max(65_536).nullish(),
  /** Number of runs, or below 1 their share of all. */
  sample: z
    .number()
    .positive()
    .max(MAX_SAMPLE)
    .refine((value) => value < 1 || Number.isInteger(value), "must be a whole number, or a share below 1")
    .nullish(),
  /** Wanted numbers of clusters, the leaves first. */
  hierarchy: z.array(z.int().min(1).max(100)).max(3).nullish(),
  /** Own to Heddle: whether a model summarizes each run before it is embedded. */
  summarize: z.boolean().nullish(),
  summary_prompt: storableText.max(4000).nullish(),
  user_context: z.record(z.string().max(1000), storableText.max(4000)).nullish(),
  model: z.enum(["openai", "anthropic"]).nullish(),
  cluster_model: modelName.nullish(),
  summary_model: modelName.nullish(),
  /** Own to Heddle: the model connection that names, and the one that embeds. */
  connection_id: uuid.nullish(),
  embedding_connection_id: uuid.nullish(),
  embedding_model: modelName.nullish(),
  budget_usd: decimal.nullish(),
  partitions: notBuiltObject("partitions"),
  attribute_schemas: notBuiltObject("attribute_schemas"),
};

const hierarchyFalls = (value: { hierarchy?: number[] | null | undefined }) =>
  (value.hierarchy ?? []).every((count, i, all) => i === 0 || count <= all[i - 1]!);

export const createBody = z
  .object({
    ...settings,
    config_id: uuid.nullish(),
    name: name.nullish(),
    is_scheduled: z.boolean().nullish(),
    validate_model_secrets: z.boolean().nullish(),
  })
  .refine(hierarchyFalls, { error: "must not increase: the leaves come first", path: ["hierarchy"] })
  .meta({ id: "InsightsJobCreate" });
export type CreateBody = z.output<typeof createBody>;

export const configBody = z
  .object({
    name,
    description: storableText.max(4000).nullish(),
    config: createBody,
    schedule_cron: notBuilt("schedule_cron", "start jobs by POST /api/v1/sessions/{session_id}/insights"),
  })
  .meta({ id: "InsightsConfigCreate" });

export const configPatch = z
  .object({
    name: name.nullish(),
    description: storableText.max(4000).nullish(),
    config: createBody.nullish(),
    schedule_cron: notBuilt("schedule_cron", "start jobs by POST /api/v1/sessions/{session_id}/insights"),
  })
  .meta({ id: "InsightsConfigUpdate" });

export const resumeBody = z.object({ budget_usd: decimal.nullish() }).meta({ id: "InsightsJobResume" });
export const renameBody = z.object({ name }).meta({ id: "InsightsJobUpdate" });

export const sessionParams = z.object({ session_id: uuid });
export const jobParams = z.object({ session_id: uuid, job_id: uuid });
export const clusterParams = z.object({ session_id: uuid, job_id: uuid, cluster_id: uuid });
export const configParams = z.object({ session_id: uuid, config_id: uuid });

export const listQuery = z.object({
  limit: queryLimit(100, 100),
  offset: queryOffset,
  config_id: uuid.optional(),
  legacy: queryBoolean,
});
export const configsQuery = z.object({ include_prebuilts: queryBoolean });
export const runsQuery = z.object({
  cluster_id: uuid.optional(),
  limit: queryLimit(100, 100),
  offset: queryOffset,
  attribute_sort_key: z.enum(["similarity"], "must be similarity: runs have no other attributes").optional(),
  attribute_sort_order: z.enum(["asc", "desc"]).optional(),
});

const money = z.string();
const progress = z.object({
  stage: z.string(),
  sampled: z.int(),
  summarized: z.int(),
  embedded: z.int(),
  clusters: z.int(),
  named: z.int(),
});

export const job = z
  .object({
    id: z.guid(),
    name: z.string(),
    /** `queued`, `running`, `success` or `error`. */
    status: z.string(),
    /** Also `stopped` and `cancelled`, whose status is `error`. */
    state: z.string(),
    stop_reason: z.string().nullable(),
    start_time: z.string().nullable(),
    end_time: z.string().nullable(),
    created_at: z.string(),
    metadata: jsonObject,
    shape: z.record(z.string(), z.int()).nullable(),
    error: z.string().nullable(),
    config_id: z.guid().nullable(),
    options: jsonObject,
    population: z.int().nullable(),
    population_failed: z.int().nullable(),
    sampled: z.int().nullable(),
    budget_usd: money.nullable(),
    spent_usd: money,
    calls: z.int(),
    tokens: z.int(),
    progress,
  })
  .meta({ id: "InsightsJob" });

export const cluster = z
  .object({
    id: z.guid(),
    parent_id: z.guid().nullable(),
    parent_name: z.string().nullable(),
    level: z.int(),
    num_children: z.int(),
    name: z.string(),
    description: z.string(),
    named_by: z.enum(["terms", "model"]),
    num_runs: z.int(),
    stats: jsonObject,
  })
  .meta({ id: "InsightsCluster" });

const report = z.object({
  title: z.string().nullable(),
  key_points: z.array(z.string()),
  highlighted_traces: z.array(
    z.object({
      run_id: z.guid(),
      cluster_id: z.guid().nullable(),
      cluster_name: z.string().nullable(),
      rank: z.int(),
      highlight_reason: z.string(),
      summary: z.string().nullable(),
    }),
  ),
  created_at: z.string(),
});
export type Report = z.output<typeof report>;

export const jobWithClusters = job
  .extend({ clusters: z.array(cluster), report: report.nullable() })
  .meta({ id: "InsightsJobWithClusters" });
export const jobs = z.object({ clustering_jobs: z.array(job) });
export const created = z.object({ id: z.guid(), name: z.string(), status: z.string(), error: z.string().nullable() });
export const renamed = z.object({ name: z.string(), status: z.string() });
export const deleted = z.object({ id: z.guid(), message: z.string() });
export const runs = z.object({ runs: z.array(jsonObject), offset: z.int().nullable() });

export const config = z
  .object({
    id: z.guid(),
    name: z.string(),
    description: z.string().nullable(),
    config: jsonObject,
    prebuilt: z.boolean(),
    schedule_cron: z.null(),
  })
  .meta({ id: "InsightsConfig" });
export const configs = z.object({ configs: z.array(config) });

export const estimate = z
  .object({
    population: z.int(),
    population_failed: z.int(),
    sample: z.int(),
    embedding: z.object({ provider: z.string(), model: z.string(), tokens: z.int(), cost_usd: money.nullable() }),
    summaries: z.object({
      provider: z.string(),
      model: z.string(),
      calls: z.int(),
      tokens: z.int(),
      cost_usd: money.nullable(),
    }),
    names: z.object({
      provider: z.string(),
      model: z.string(),
      calls: z.int(),
      tokens: z.int(),
      cost_usd: money.nullable(),
    }),
    /** Null when a model has no price. */
    cost_usd: money.nullable(),
  })
  .meta({ id: "InsightsEstimate" });
