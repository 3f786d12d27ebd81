import { z } from "zod";

import { queryBoolean, queryLimit, queryMany, queryOffset } from "../../base/http/fields.ts";
import { feedbackConfig, feedbackKey } from "./schema.ts";

export const createConfigBody = z
  .object({
    feedback_key: feedbackKey,
    feedback_config: feedbackConfig,
    is_lower_score_better: z.boolean().nullable().default(false),
  })
  .meta({ id: "FeedbackConfigCreate" });

export const updateConfigBody = z
  .object({
    feedback_key: feedbackKey,
    feedback_config: feedbackConfig.nullish(),
    is_lower_score_better: z.boolean().nullish(),
  })
  .meta({ id: "FeedbackConfigUpdate" });

export const configRecord = z
  .object({
    feedback_key: z.string(),
    feedback_config: feedbackConfig,
    tenant_id: z.guid(),
    modified_at: z.iso.datetime({ offset: true }),
    is_lower_score_better: z.boolean().nullable(),
  })
  .meta({ id: "FeedbackConfigRecord" });

export const listConfigsQuery = z.object({
  key: queryMany(z.string(), 50),
  name_contains: z.string().optional(),
  limit: queryLimit(100),
  offset: queryOffset,
  sort_by_desc: queryBoolean,
  read_after_write: queryBoolean,
});

export const deleteConfigQuery = z.object({ feedback_key: z.string() });

export type ConfigCreate = z.output<typeof createConfigBody>;
export type ConfigUpdate = z.output<typeof updateConfigBody>;
export type ConfigSearch = z.output<typeof listConfigsQuery>;
