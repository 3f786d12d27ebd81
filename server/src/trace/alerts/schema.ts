import { z } from "zod";

import { queryLimit, queryOffset, storableText, uuid } from "../../base/http/fields.ts";
import { actions, shownAction } from "./channel-schema.ts";
import { AGGREGATIONS, ATTRIBUTE_NAMES } from "./definition.ts";

/** Contract: group alerts. Fields after "Heddle's own" extend it. */

export const MAX_RULES = 500;
const WEEK_MINUTES = 10_080;

const time = z.iso.datetime({ offset: true });
const number = z.number().min(-1e15).max(1e15);
const filter = storableText.max(32_768).nullish();
export const severity = z.enum(["info", "warning", "error", "critical"]);

const groupBy = z
  .object({
    attribute: z.enum(["name", "run_type", "tag", "model", "error_kind", "metadata"]),
    /** Metadata key, if the attribute is metadata. */
    path: z.string().min(1).max(250).nullish(),
  })
  .refine(({ attribute, path }) => attribute !== "metadata" || path != null, {
    path: ["path"],
    message: "must be a metadata key",
  });

const maintenance = z
  .object({ starts_at: time, ends_at: time })
  .refine(({ starts_at, ends_at }) => Date.parse(starts_at) < Date.parse(ends_at), {
    path: ["ends_at"],
    message: "must be after starts_at",
  });

const ruleFields = {
  id: uuid.nullish(),
  name: storableText.trim().min(1).max(200),
  description: storableText.max(5000).nullish(),
  type: z.enum(["threshold", "change", "absence"]),
  attribute: z.enum(ATTRIBUTE_NAMES),
  aggregation: z.enum(AGGREGATIONS),
  operator: z.enum(["gt", "gte", "lt", "lte"]),
  threshold: number.nullish().describe("Percentages from 0 to 100, durations in seconds, costs in USD."),
  threshold_multiplier: z.number().min(0).max(1000).nullish(),
  threshold_window_minutes: z.int().min(1).max(WEEK_MINUTES).nullish(),
  window_minutes: z.int().min(1).max(WEEK_MINUTES),
  filter,
  denominator_filter: filter,
  // Heddle's own
  interval_minutes: z.int().min(1).max(60).nullish(),
  delay_minutes: z.int().min(0).max(60).nullish(),
  feedback_key: storableText.min(1).max(500).nullish(),
  group_by: groupBy.nullish(),
  for_evaluations: z.int().min(1).max(60).nullish(),
  min_runs: z.int().min(0).max(1_000_000).nullish(),
  resolve_threshold: number.nullish(),
  no_data: z.enum(["resolve", "keep"]).nullish(),
  severity: severity.nullish(),
  enabled: z.boolean().nullish(),
  silenced_until: time.nullish(),
  maintenance_windows: z.array(maintenance).max(50).nullish(),
};

const ruleBody = z.object(ruleFields);
const rulePatch = z.object({
  ...ruleFields,
  name: ruleFields.name.optional(),
  type: ruleFields.type.optional(),
  attribute: ruleFields.attribute.optional(),
  aggregation: ruleFields.aggregation.optional(),
  operator: ruleFields.operator.optional(),
  window_minutes: ruleFields.window_minutes.optional(),
});
export type RulePatch = z.output<typeof rulePatch>;

export const createBody = z.object({ rule: ruleBody, actions }).meta({ id: "AlertRuleCreate" });
/** Missing fields stay unchanged. */
export const patchBody = z
  .object({ rule: rulePatch.optional(), actions: actions.optional() })
  .meta({ id: "AlertRuleUpdate" });
export type CreateBody = z.output<typeof createBody>;
export type PatchBody = z.output<typeof patchBody>;

const session_id = z.union([z.literal("all"), uuid]).describe("A project, or `all` for rules over all projects.");
export const projectParams = z.object({ session_id });
export const alertParams = z.object({ session_id, alert_rule_id: uuid });

export const listQuery = z.object({ limit: queryLimit(100, 500), offset: queryOffset });
export const incidentQuery = z.object({
  alert_rule_id: uuid.optional(),
  status: z.enum(["firing", "resolved"]).optional(),
  before: uuid.optional().describe("The last incident of the previous page."),
  limit: queryLimit(50, 200),
});

export const testBody = z.object({
  alert_rule_id: uuid.nullish().describe("Rule whose channels are tested, or that keeps masked values."),
  rule: rulePatch.nullish(),
  actions: actions.nullish(),
});

export const previewBody = z.object({
  rule: z.object({ ...ruleFields, name: ruleFields.name.nullish() }),
  hours: z
    .int()
    .min(1)
    .max(336)
    .nullish()
    .transform((hours) => hours ?? 336),
});

const shownTime = z.string();
const shownRule = z
  .object({
    id: z.guid(),
    session_id: z.guid().nullable(),
    session_name: z.string().nullable(),
    name: z.string(),
    description: z.string(),
    type: ruleFields.type,
    attribute: ruleFields.attribute,
    aggregation: ruleFields.aggregation,
    operator: ruleFields.operator,
    threshold: z.number().nullable(),
    threshold_multiplier: z.number().nullable(),
    threshold_window_minutes: z.int().nullable(),
    window_minutes: z.int(),
    filter: z.string().nullable(),
    denominator_filter: z.string().nullable(),
    interval_minutes: z.int(),
    delay_minutes: z.int(),
    feedback_key: z.string().nullable(),
    group_by: groupBy.nullable(),
    for_evaluations: z.int(),
    min_runs: z.int(),
    resolve_threshold: z.number().nullable(),
    no_data: z.enum(["resolve", "keep"]),
    severity,
    enabled: z.boolean(),
    /** Why the platform disabled it. */
    disabled_reason: z.string().nullable(),
    silenced_until: shownTime.nullable(),
    maintenance_windows: z.array(z.object({ starts_at: shownTime, ends_at: shownTime })),
    status: z.enum(["ok", "pending", "firing", "disabled"]),
    /** Groups in these states. */
    firing: z.int(),
    pending: z.int(),
    last_fired_at: shownTime.nullable(),
    evaluated_at: shownTime.nullable(),
    /** Why the last evaluation failed. */
    error: z.string().nullable(),
    created_at: shownTime,
    updated_at: shownTime,
  })
  .meta({ id: "AlertRule" });

export const alertRule = z
  .object({
    rule: shownRule,
    actions: z.array(shownAction),
  })
  .meta({ id: "AlertRuleResponse" });

export const incident = z
  .object({
    id: z.guid(),
    alert_rule_id: z.guid(),
    rule_name: z.string(),
    group: z.string(),
    status: z.enum(["firing", "resolved"]),
    severity,
    began_at: shownTime,
    fired_at: shownTime,
    resolved_at: shownTime.nullable(),
    value: z.number().nullable(),
    worst_value: z.number().nullable(),
    last_value: z.number().nullable(),
    threshold: z.number().nullable(),
    reason: z.string().nullable(),
    /** Of a budget: its month, and the threshold in percent, or `forecast`. */
    period: z.string().nullable(),
    level: z.string().nullable(),
    told_at: shownTime.nullable(),
    deliveries: z.array(
      z.object({
        id: z.guid(),
        action_id: z.guid(),
        target: z.string(),
        /** Of an e-mail. */
        recipient: z.string().nullable(),
        event: z.enum(["firing", "resolved"]),
        status: z.string(),
        attempts: z.int(),
        error: z.string().nullable(),
        finished_at: shownTime.nullable(),
      }),
    ),
  })
  .meta({ id: "AlertIncident" });

export const testResult = z
  .object({
    message: z.string(),
    results: z.array(
      z.object({
        action_id: z.guid().nullable(),
        target: z.string(),
        /** Of an e-mail. */
        recipient: z.string().nullable(),
        status: z.enum(["delivered", "failed"]),
        /** HTTP status, or the code of the SMTP reply. */
        status_code: z.int().nullable(),
        /** The receiver's body, or SMTP reply. */
        answer: z.string().nullable(),
        error: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "AlertTestResult" });

export const preview = z
  .object({
    since: shownTime,
    until: shownTime,
    step_minutes: z.int(),
    /** How often the rule would have fired. */
    fired: z.int(),
    incidents: z.array(
      z.object({
        group: z.string(),
        began_at: shownTime,
        fired_at: shownTime,
        resolved_at: shownTime.nullable(),
        value: z.number().nullable(),
        worst_value: z.number().nullable(),
      }),
    ),
    series: z.array(
      z.object({
        group: z.string(),
        points: z.array(z.object({ at: shownTime, value: z.number().nullable(), threshold: z.number().nullable() })),
      }),
    ),
  })
  .meta({ id: "AlertPreview" });
