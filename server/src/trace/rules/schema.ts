import { z } from "zod";

import { jsonObject, notBuilt, queryFlag, queryMany, storableText, timestamp, uuid } from "../../base/http/fields.ts";
import { hasEachOnce, HEADER_NAME, HEADER_VALUE, RESERVED_HEADER } from "../../base/webhooks/headers.ts";
import { type RunMapping, runMapping } from "../datasets/mapping-schema.ts";
import { bounded } from "../runs/query-schema.ts";

/** Contract: `RunRulesSchema` and its relatives. Heddle's own fields are `add_tags`, `add_feedback`, … */

/** Shown instead of a secret: a header's value, or an alert's routing key. Sent back, it keeps the stored one. */
export const MASK = "••••••••";
export const MAX_RULES = 200;
/** Seconds without activity after which a thread is evaluated, unless the rule says otherwise. */
export const IDLE_SECONDS = 300;
const MAX_LIST = 20;

const header = z.string().refine((value) => value === MASK || HEADER_VALUE.test(value), {
  message: "contains characters that are not allowed in a header",
});
const headers = z
  .record(
    z
      .string()
      .regex(HEADER_NAME, "must be header names")
      .refine((name) => !RESERVED_HEADER.test(name), "is set by the server itself"),
    header,
  )
  .refine((all) => Object.keys(all).length <= 50, "must have at most 50 headers")
  .refine((all) => JSON.stringify(all).length <= 16_384, "must have at most 16384 characters")
  .refine(hasEachOnce, "must have each header once");

const webhook = z
  .object({
    url: z
      .string()
      .min(1)
      .max(4096)
      .regex(/^https?:\/\//i, "must be an http or https URL"),
    headers: headers.nullish(),
  })
  .meta({ id: "RunRulesWebhook" });

const alert = z
  .object({
    type: z.literal("pagerduty").nullish(),
    routing_key: z.string().min(1).max(256),
    summary: storableText.max(1024).nullish(),
    severity: z.enum(["critical", "warning", "error", "info"]).nullish(),
  })
  .meta({ id: "RunRulesPagerdutyAlert" });

const evaluator = z.object({ structured: jsonObject }).meta({ id: "RunRulesEvaluator" });
const codeEvaluator = z
  .object({ code: storableText.min(1).max(65_536), language: z.enum(["python", "javascript"]).nullish() })
  .meta({ id: "RunRulesCodeEvaluator" });

const addFeedback = z
  .object({
    key: storableText.trim().min(1).max(180),
    score: z.union([z.number(), z.boolean()]).nullish(),
    value: z.union([storableText.max(4096), z.number(), z.boolean()]).nullish(),
    comment: storableText.max(20_000).nullish(),
  })
  .meta({ id: "RunRulesFeedback" });

/** Actions of a rule as stored in `rules.actions`: no secret is in it. */
export interface RuleActions {
  add_to_annotation_queue_id?: string | null;
  add_to_dataset_id?: string | null;
  add_to_dataset_prefer_correction?: boolean;
  /** As the API took them; evaluated are `evaluator_ids`. */
  evaluators?: { structured: Record<string, unknown> }[] | null;
  code_evaluators?: { code: string; language: "python" | "javascript" }[] | null;
  /** Evaluators to run: the named one, then the embedded ones. */
  evaluator_ids?: string[];
  /** Those of them that the rule embeds. */
  embedded_ids?: string[];
  evaluator_version?: number | null;
  /** Whether judged runs go to the evaluators' alignment queues. */
  create_alignment_queue?: boolean;
  /** Routing keys and header values are secrets: see rule-secrets.ts. */
  alerts?: { type: "pagerduty"; summary: string | null; severity: string }[] | null;
  webhooks?: { url: string; headers: string[] }[] | null;
  extend_only?: boolean;
  add_tags?: string[];
  add_feedback?: {
    key: string;
    score?: number | boolean | null;
    value?: string | number | boolean | null;
    comment?: string | null;
  }[];
  dataset_mapping?: RunMapping | null;
  include_extended_stats?: boolean;
  transient?: boolean;
  /** Window of the spend limit. */
  spend_window?: "daily" | "weekly" | "monthly";
}

const filter = storableText.max(65_536);
const samplingRate = z.number().min(0).max(1);
/** `daily` and `monthly` are Heddle's own. */
const spendWindow = z.enum(["daily", "weekly", "monthly"]);
const limitUsd = z.union([
  z.number().positive().max(1e9),
  z.string().regex(/^\d{1,9}(\.\d{1,12})?$/, "must be a decimal number"),
]);

const fields = {
  display_name: storableText.trim().min(1).max(512),
  session_id: uuid.nullish(),
  is_enabled: z.boolean().nullish(),
  dataset_id: uuid.nullish(),
  sampling_rate: samplingRate,
  filter: filter.nullish(),
  trace_filter: filter.nullish(),
  tree_filter: filter.nullish(),
  backfill_from: bounded(timestamp).nullish(),
  extend_only: z.boolean().nullish(),
  add_to_annotation_queue_id: uuid.nullish(),
  add_to_dataset_id: uuid.nullish(),
  add_to_dataset_prefer_correction: z.boolean().nullish(),
  evaluators: z.array(evaluator).max(MAX_LIST).nullish(),
  code_evaluators: z.array(codeEvaluator).max(MAX_LIST).nullish(),
  evaluator_id: uuid.nullish(),
  evaluator_version: z.int().min(1).max(100).nullish(),
  /** Of the rule's judges: all their rules share them. */
  use_corrections_dataset: z.boolean().nullish(),
  num_few_shot_examples: z.int().min(0).max(20).nullish(),
  /** Judged runs become items of the evaluators' alignment queues. */
  create_alignment_queue: z.boolean().nullish(),
  alerts: z.array(alert).max(MAX_LIST).nullish(),
  webhooks: z.array(webhook).max(MAX_LIST).nullish(),
  group_by: z.literal("thread_id").nullish(),
  spend_limit: z.object({ limit_usd: limitUsd, window: spendWindow }).nullish(),
  include_extended_stats: z.boolean().nullish(),
  /** The rule acts on the runs of its back-fill only. */
  transient: z.boolean().nullish(),
  // Heddle's own
  add_tags: z.array(storableText.trim().min(1).max(512)).max(50).nullish(),
  add_feedback: z.array(addFeedback).max(MAX_LIST).nullish(),
  dataset_mapping: runMapping.nullish(),
  idle_seconds: z.int().min(1).max(604_800).nullish(),
  // not supported
  tracer_session_issue_id: notBuilt("tracer_session_issue_id"),
};

export const createBody = z.object(fields).meta({ id: "RunRulesCreate" });
/** Missing fields stay unchanged. */
export const patchBody = z
  .object({ ...fields, display_name: fields.display_name.optional(), sampling_rate: samplingRate.optional() })
  .meta({ id: "RunRulesUpdate" });
export const validateBody = z
  .object({
    ...fields,
    test_inputs: jsonObject.nullish(),
    test_outputs: jsonObject.nullish(),
    test_reference_outputs: jsonObject.nullish(),
    test_attachments: notBuilt("test_attachments"),
  })
  .meta({ id: "RunRulesValidate" });

export type CreateBody = z.output<typeof createBody>;
export type PatchBody = z.output<typeof patchBody>;
export type ValidateBody = z.output<typeof validateBody>;

export const ruleParams = z.object({ rule_id: uuid });

export const listQuery = z.object({
  dataset_id: uuid.optional(),
  session_id: uuid.optional(),
  type: z.enum(["session", "dataset"]).optional(),
  name_contains: z.string().max(512).optional(),
  id: queryMany(uuid, 100),
  evaluator_id: uuid.optional(),
  tag_value_id: z.undefined('"tag_value_id" is not supported yet; leave it out').optional(),
  include_backfill_progress: queryFlag,
});
export type ListQuery = z.output<typeof listQuery>;

const time = z.iso.datetime({ offset: true });

export const rule = z
  .object({
    id: z.guid(),
    tenant_id: z.guid(),
    is_enabled: z.boolean(),
    /** Why the platform disabled it. */
    disabled_reason: z.string().nullable(),
    session_id: z.guid().nullable(),
    session_name: z.string().nullable(),
    dataset_id: z.guid().nullable(),
    dataset_name: z.string().nullable(),
    display_name: z.string(),
    sampling_rate: z.number(),
    filter: z.string().nullable(),
    trace_filter: z.string().nullable(),
    tree_filter: z.string().nullable(),
    add_to_annotation_queue_id: z.guid().nullable(),
    add_to_annotation_queue_name: z.string().nullable(),
    add_to_dataset_id: z.guid().nullable(),
    add_to_dataset_name: z.string().nullable(),
    add_to_dataset_prefer_correction: z.boolean(),
    /** Of its first judge. */
    corrections_dataset_id: z.guid().nullable(),
    use_corrections_dataset: z.boolean(),
    num_few_shot_examples: z.int().nullable(),
    evaluators: z.array(evaluator).nullable(),
    code_evaluators: z.array(codeEvaluator).nullable(),
    alerts: z.array(alert).nullable(),
    webhooks: z.array(webhook).nullable(),
    extend_only: z.boolean(),
    include_extended_stats: z.boolean(),
    created_at: time,
    updated_at: time,
    backfill_from: time.nullable(),
    backfill_id: z.guid().nullable(),
    backfill_status: z.string().nullable(),
    /** Share of the back-fill that is done, from 0 to 1. */
    backfill_progress: z.number().nullable(),
    backfill_error: z.string().nullable(),
    backfill_completed_at: time.nullable(),
    transient: z.boolean(),
    evaluator_version: z.int(),
    evaluator_id: z.guid().nullable(),
    alignment_annotation_queue_id: z.guid().nullable(),
    group_by: z.literal("thread_id").nullable(),
    spend_limit: z.object({ limit_usd: z.string(), window: spendWindow }).nullable(),
    add_tags: z.array(z.string()),
    add_feedback: z.array(addFeedback),
    dataset_mapping: jsonObject.nullable(),
    idle_seconds: z.int(),
  })
  .meta({ id: "RunRule" });
