import { z } from "zod";

import { queryBoolean, queryLimit, queryMany, queryOffset, storableText, uuid } from "../../base/http/fields.ts";

/** Configuration of a feedback key, as the LangSmith API has it. */
const MAX_KEY_LENGTH = 180;

export const feedbackKey = storableText.min(1).max(MAX_KEY_LENGTH);

export const feedbackConfig = z
  .object({
    type: z.enum(["continuous", "categorical", "freeform"]),
    min: z.number().nullish(),
    max: z.number().nullish(),
    categories: z
      .array(z.object({ value: z.number(), label: z.string().min(1).nullish() }))
      .max(100)
      .nullish(),
    /** Of categories: whether feedback can have several, as a list of their labels in `value`. */
    allows_multiple_categories: z.boolean().nullish(),
  })
  .refine(({ min, max }) => min == null || max == null || min <= max, "min must not be greater than max")
  .meta({ id: "FeedbackConfig" });

export const createConfigBody = z
  .object({
    feedback_key: feedbackKey,
    feedback_config: feedbackConfig,
    is_lower_score_better: z.boolean().nullable().default(false),
    // a key has one configuration, which describes feedback and rejects none
    is_enforced: z.literal(false, "is not supported; leave it out").nullish(),
  })
  .meta({ id: "FeedbackConfigCreate" });

export const updateConfigBody = z
  .object({
    feedback_key: feedbackKey,
    feedback_config: feedbackConfig.nullish(),
    is_lower_score_better: z.boolean().nullish(),
    feedback_config_id: uuid.nullish(),
    is_enforced: z.literal(false, "is not supported; leave it out").nullish(),
  })
  .meta({ id: "FeedbackConfigUpdate" });

export const configRecord = z
  .object({
    id: z.guid(),
    feedback_key: z.string(),
    feedback_config: feedbackConfig,
    tenant_id: z.guid(),
    modified_at: z.iso.datetime({ offset: true }),
    is_lower_score_better: z.boolean().nullable(),
    is_enforced: z.boolean(),
    is_deleted: z.boolean(),
    is_first: z.boolean(),
  })
  .meta({ id: "FeedbackConfigRecord" });

export const listConfigsQuery = z.object({
  key: queryMany(z.string(), 50),
  name_contains: z.string().optional(),
  limit: queryLimit(100),
  offset: queryOffset,
  sort_by_desc: queryBoolean,
  read_after_write: queryBoolean,
  // a key has at most one, and a deleted one is gone
  include_all_configs: queryBoolean,
  is_enforced: queryBoolean,
});

export const deleteConfigQuery = z.object({ feedback_key: z.string() });

export type ConfigUpdate = z.output<typeof updateConfigBody>;
export type ConfigSearch = z.output<typeof listConfigsQuery>;
export type FeedbackConfig = z.output<typeof feedbackConfig>;
