import { z } from "zod";

import {
  jsonObject,
  queryBoolean,
  queryFalse,
  queryLimit,
  queryMany,
  queryOffset,
  storableText,
  timestamp,
  uuid,
} from "../../base/http/fields.ts";
import { rubricItems, storedRubricItem } from "./rubric-schema.ts";

/** Contract: `AnnotationQueueSchema` and its relatives. Texts and lists are bounded, because queues are listed whole. */

const MAX_REVIEWERS = 100;
/** A week. */
const MAX_RESERVATION_MINUTES = 10_080;

const text = storableText.max(20_000);
const name = storableText.trim().min(1).max(512);
const metadata = jsonObject.refine((value) => JSON.stringify(value).length <= 65_536, "must be at most 64 KiB of JSON");
const reviewersPerItem = z.int().min(1).max(MAX_REVIEWERS);
const reservationMinutes = z.int().min(1).max(MAX_RESERVATION_MINUTES);
const queueType = z.enum(["single", "pairwise"]);
const accessMode = z.enum(["any", "assigned"]);
const projects = z.array(uuid).max(100);

export const createBody = z
  .object({
    id: uuid.nullish(),
    name,
    description: text.nullish(),
    created_at: timestamp.nullish(),
    updated_at: timestamp.nullish(),
    num_reviewers_per_item: reviewersPerItem.nullish().transform((value) => (value === undefined ? 1 : value)),
    enable_reservations: z
      .boolean()
      .nullish()
      .transform((value) => value ?? true),
    reservation_minutes: reservationMinutes.nullish().transform((value) => value ?? 1),
    reviewer_access_mode: accessMode.nullish().transform((value) => value ?? "any"),
    default_dataset: uuid.nullish(),
    rubric_items: rubricItems.nullish(),
    rubric_instructions: text.nullish(),
    session_ids: projects.nullish(),
    metadata: metadata.nullish(),
    /** Of `pairwise` queues, an item is a pair of runs, and a judgement names the better one. */
    queue_type: queueType.nullish().transform((value) => value ?? "single"),
    /** Of a pairwise queue: the comparison to which its judgements belong. */
    comparative_experiment_id: uuid.nullish(),
  })
  .refine(
    ({ queue_type: type, comparative_experiment_id: id }) => id == null || type === "pairwise",
    "comparative_experiment_id requires a pairwise queue",
  )
  .refine(
    ({ queue_type: type, session_ids: ids }) => type === "single" || !ids || ids.length === 0 || ids.length === 2,
    "session_ids of a pairwise queue are two experiments",
  )
  .meta({ id: "AnnotationQueueCreate" });

/** Missing fields stay unchanged, as do those that the SDKs mark as missing. */
const missing = z.object({ __missing__: z.string() }).transform(() => undefined);

export const patchBody = z
  .object({
    name: name.nullish(),
    description: text.nullable().optional(),
    default_dataset: uuid.nullable().optional(),
    num_reviewers_per_item: z.union([reviewersPerItem, missing, z.null()]).optional(),
    enable_reservations: z.boolean().optional(),
    reservation_minutes: reservationMinutes.nullish(),
    reviewer_access_mode: accessMode.nullish(),
    rubric_items: rubricItems.nullable().optional(),
    rubric_instructions: text.nullable().optional(),
    metadata: z.union([missing, metadata, z.null()]).optional(),
  })
  .meta({ id: "AnnotationQueueUpdate" });

const time = z.iso.datetime({ offset: true });

export const reviewer = z.object({ id: z.guid(), name: z.string().nullable(), email: z.string().nullable() });

export const queue = z
  .object({
    id: z.guid(),
    tenant_id: z.guid(),
    name: z.string(),
    description: z.string().nullable(),
    created_at: time,
    updated_at: time,
    num_reviewers_per_item: z.int().nullable(),
    enable_reservations: z.boolean(),
    reservation_minutes: z.int(),
    reviewer_access_mode: accessMode,
    default_dataset: z.guid().nullable(),
    queue_type: queueType,
    comparative_experiment_id: z.guid().nullable(),
    source_rule_id: z.guid().nullable(),
    run_rule_id: z.guid().nullable(),
    metadata: jsonObject.nullable(),
    assigned_reviewers: z.array(reviewer),
    rubric_items: z.array(storedRubricItem).nullable(),
    rubric_instructions: z.string().nullable(),
  })
  .meta({ id: "AnnotationQueue" });

export const queueWithSize = queue.extend({ total_runs: z.int() }).meta({ id: "AnnotationQueueWithSize" });

export const queueParams = z.object({ queue_id: uuid });
export const queuesOfRunParams = z.object({ run_id: uuid });

export const listQuery = z.object({
  ids: queryMany(uuid, 100),
  name: z.string().optional(),
  name_contains: z.string().optional(),
  dataset_id: uuid.optional(),
  queue_type: queueType.optional(),
  assigned_to_me: queryBoolean,
  sort_by: z.enum(["name", "created_at", "updated_at", "total_runs"]).default("created_at"),
  sort_by_desc: queryBoolean,
  tag_value_id: queryMany(uuid, 100),
  include_rubric_keys: queryFalse("include_rubric_keys", "the answer has rubric_items"),
  limit: queryLimit(100, 100),
  offset: queryOffset,
});

export const deleteManyQuery = z.object({
  queue_ids: z.union([uuid, z.array(uuid).max(100)]).transform((value) => [...new Set([value].flat())]),
});
export const deletedMany = z.object({
  deleted: z.array(z.guid()),
  failed: z.array(z.object({ id: z.guid(), error: z.string() })),
});

export const reviewerBody = z.object({ identity_id: uuid });
export const reviewerParams = z.object({ queue_id: uuid, identity_id: uuid });

export type QueueCreate = z.output<typeof createBody>;
export type QueuePatch = z.output<typeof patchBody>;
export type QueueSearch = z.output<typeof listQuery>;
