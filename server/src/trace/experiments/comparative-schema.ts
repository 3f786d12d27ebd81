import { z } from "zod";

import {
  jsonObject,
  queryBoolean,
  queryLimit,
  queryMany,
  queryOffset,
  storableText,
  timestamp,
  uuid,
} from "../../base/http/fields.ts";

export const createBody = z
  .object({
    id: uuid.nullish(),
    experiment_ids: z.array(uuid).min(1).max(100),
    reference_dataset_id: uuid.nullish(),
    name: storableText.nullish(),
    description: storableText.nullish(),
    created_at: timestamp.nullish(),
    extra: jsonObject.nullish(),
  })
  .meta({ id: "ComparativeExperimentCreate" });

export const comparison = z
  .object({
    id: z.guid(),
    tenant_id: z.guid(),
    name: z.string().nullable(),
    description: z.string().nullable(),
    reference_dataset_id: z.guid(),
    extra: jsonObject.nullable(),
    created_at: z.iso.datetime({ offset: true }),
    modified_at: z.iso.datetime({ offset: true }),
  })
  .meta({ id: "ComparativeExperiment" });

export const listed = comparison
  .extend({
    experiments_info: z.array(z.object({ id: z.guid(), name: z.string() })),
    feedback_stats: jsonObject.nullable(),
  })
  .meta({ id: "ComparativeExperimentListed" });

export const listQuery = z.object({
  id: queryMany(uuid),
  name: z.string().optional(),
  name_contains: z.string().optional(),
  sort_by: z.enum(["name", "created_at"]).default("created_at"),
  sort_by_desc: queryBoolean,
  limit: queryLimit(100),
  offset: queryOffset,
});
