import { z } from "zod";

import { jsonObject, queryFlag, queryLimit, queryMany, queryOffset, timestamp, uuid } from "../../base/http/fields.ts";

/** Contract: `RuleLogSchema` and its relatives. Heddle adds why and how often a decision was acted on. */

const STATUSES = ["pending", "done", "failed", "skipped"] as const;
const time = z.iso.datetime({ offset: true });

const action = z
  .object({ outcome: z.enum(["success", "skipped", "error"]), payload: jsonObject.nullable() })
  .meta({ id: "RuleLogActionResponse" });

export const ruleLog = z
  .object({
    rule_id: z.guid(),
    run_id: z.guid(),
    run_name: z.string().nullable(),
    run_type: z.string().nullable(),
    run_session_id: z.guid().nullable(),
    start_time: time,
    end_time: time,
    application_time: time.nullable(),
    add_to_annotation_queue: action.nullable(),
    add_to_dataset: action.nullable(),
    evaluators: action.nullable(),
    alerts: action.nullable(),
    webhooks: action.nullable(),
    extend_only: action.nullable(),
    thread_id: z.string().nullable(),
    tags: action.nullable(),
    feedback: action.nullable(),
    alignment_queue: action.nullable(),
    match_id: z.guid(),
    trace_id: z.guid(),
    matched_at: time,
    is_backfill: z.boolean(),
    status: z.enum(STATUSES),
    /** Why it was skipped or failed. */
    reason: z.string().nullable(),
    attempts: z.int(),
    cost_usd: z.string().nullable(),
    deliveries: z.array(
      z.object({
        delivery_id: z.guid(),
        kind: z.enum(["webhook", "pagerduty"]),
        place: z.int(),
        status: z.enum(["pending", "delivered", "failed"]),
        attempts: z.int(),
        error: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "RuleLog" });

const filters = {
  start_time: timestamp.optional(),
  end_time: timestamp.optional(),
  session_id: uuid.optional(),
};
export const logQuery = z.object({ limit: queryLimit(150, 1440), offset: queryOffset, ...filters });
export const logQueryV2 = z.object({
  limit: queryLimit(150, 1440),
  cursor: z.string().max(1000).optional(),
  /** `any`: Heddle's own, all decisions. */
  backfill: z
    .enum(["true", "false", "True", "False", "1", "0", "any"], "must be true, false or any")
    .default("false")
    .transform((value) => (value === "any" ? undefined : /^(true|1)$/i.test(value))),
  status: queryMany(z.enum(STATUSES), 4).transform((list) => list as (typeof STATUSES)[number][] | undefined),
  run_id: uuid.optional(),
  ...filters,
});
export const logPage = z
  .object({ logs: z.array(ruleLog), cursor: z.string().nullable(), has_more: z.boolean() })
  .meta({ id: "RuleLogsPaginatedResponse" });

export const lastAppliedQuery = z.object({ backfill: queryFlag });

export const statisticsQuery = z.object({ id: queryMany(uuid, 100), hours: queryLimit(24, 168) });
export const statistics = z.array(
  z
    .object({
      rule_id: z.guid(),
      matched: z.int(),
      pending: z.int(),
      done: z.int(),
      failed: z.int(),
      skipped: z.int(),
      cost_usd: z.string(),
      last_applied_at: time.nullable(),
      spent_usd: z.string().nullable(),
    })
    .meta({ id: "RuleStatistics" }),
);

export const runParams = z.object({ rule_id: uuid, run_id: uuid });
export const retried = z.object({ status: z.literal("pending") });

export const backfillParams = z.object({ rule_id: uuid, backfill_id: uuid });
export const backfill = z
  .object({
    backfill_id: z.guid(),
    rule_id: z.guid(),
    backfill_from: time,
    backfill_to: time,
    status: z.enum(["pending", "running", "completed", "failed", "cancelled"]),
    /** Runs that were given to the rule. */
    done: z.number(),
    /** Runs that matched its filter when it began. */
    total: z.number().nullable(),
    error: z.string().nullable(),
    created_at: time,
    completed_at: time.nullable(),
  })
  .meta({ id: "RuleBackfill" });
export const backfills = z.array(backfill);

export const triggerBody = z
  .object({
    rule_ids: z.array(uuid).max(100).nullish(),
    dataset_id: uuid.nullish(),
  })
  .meta({ id: "TriggerRulesRequest" });
/** Heddle's own: the rule looks at these runs, also at those from before it. */
export const triggerOneBody = z
  .object({ run_ids: z.array(uuid).min(1).max(1000).nullish() })
  .nullish()
  .meta({ id: "TriggerRule" });
export const triggered = z.object({ rule_ids: z.array(z.guid()) });
