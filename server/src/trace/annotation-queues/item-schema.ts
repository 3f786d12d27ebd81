import { z } from "zod";

import { jsonObject, queryBoolean, queryLimit, queryOffset, timestamp, uuid } from "../../base/http/fields.ts";
import { run as runFields, selectionBody } from "../runs/query-schema.ts";

/** Runs per request, and items per queue. */
export const MAX_ADDED = 1000;
export const MAX_ITEMS = 100_000;

export const sections = ["needs_my_review", "needs_others_review", "completed"] as const;
export type Section = (typeof sections)[number];

const proposed = { source_proposed_example_id: uuid.nullish() };

/** Fields of the deprecated form besides the id locate the run; here the id is enough. */
const runToAdd = z.object({
  run_id: uuid,
  ...proposed,
  start_time: timestamp.nullish(),
  session_id: uuid.nullish(),
  trace_id: uuid.nullish(),
  parent_run_id: uuid.nullish(),
  trace_tier: z.enum(["longlived", "shortlived"]).nullish(),
});

export const addBody = z
  .array(z.union([uuid.transform((run_id) => ({ run_id })), runToAdd]))
  .max(MAX_ADDED)
  .transform(
    (runs) => runs as { run_id: string; session_id?: string | null; source_proposed_example_id?: string | null }[],
  );

export const addByKeyBody = z
  .array(z.object({ run_id: uuid, session_id: uuid, start_time: timestamp, ...proposed }))
  .max(MAX_ADDED);

export const addQuery = z.object({ extend_trace_retention: queryBoolean });

/**
 * The runs of projects, by default the roots. The conditions of `POST /runs/query` narrow them; they are Heddle's
 * addition to the contract.
 */
export const populateBody = selectionBody
  .omit({ id: true, session: true, trace: true, parent_run: true })
  .extend({
    queue_id: uuid,
    session_ids: z.array(uuid).min(1).max(100),
    extend_trace_retention: z.boolean().nullish(),
    limit: z.int().min(1).max(MAX_ITEMS).nullish(),
  })
  .meta({ id: "AnnotationQueuePopulate" });
export type PopulateBody = z.output<typeof populateBody>;

export const populated = z.object({ added: z.int(), matched: z.int() });

const time = z.iso.datetime({ offset: true });

export const queueRun = z
  .object({
    id: z.guid(),
    run_id: z.guid(),
    queue_id: z.guid(),
    added_at: time,
    last_reviewed_time: time.nullable(),
    source_proposed_example_id: z.guid().nullable(),
    item_type: z.enum(["RUN", "THREAD", "PAIR"]),
    other_run_id: z.guid().nullable(),
  })
  .meta({ id: "AnnotationQueueRun" });

/** Fields of an item beside those of its run. `status` of a run that was deleted meanwhile is `deleted`. */
export const runInQueue = runFields
  .extend({
    queue_run_id: z.guid(),
    added_at: time,
    effective_added_at: time,
    last_reviewed_time: time.nullable(),
    archived_at: time.nullable(),
    reserved_by: z.array(z.guid()),
    completed_by: z.array(z.guid()),
    source_proposed_example_id: z.guid().nullable(),
    /** Of a thread the run is its latest root. */
    item_type: z.enum(["RUN", "THREAD", "PAIR"]),
    /** Of a pair. */
    other_run_id: z.guid().nullable(),
  })
  .meta({ id: "RunInAnnotationQueue" });

export const itemParams = z.object({ queue_id: uuid, queue_run_id: uuid });
export const indexParams = z.object({
  queue_id: uuid,
  index: z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number")
    .transform(Number),
});
export const indexQuery = z.object({ include_extra: queryBoolean });

export const listItemsQuery = z.object({
  archived: queryBoolean,
  status: z.enum(sections).optional(),
  include_stats: queryBoolean,
  limit: queryLimit(100, 100),
  offset: queryOffset,
});

export const patchItemBody = z.object({ added_at: timestamp.nullish(), last_reviewed_time: timestamp.nullish() });

export const deleteItemsBody = z
  .object({
    delete_all: z.boolean().default(false),
    run_ids: z.array(uuid).max(10_000).nullish(),
    exclude_run_ids: z.array(uuid).max(10_000).nullish(),
  })
  .refine((body) => body.delete_all || body.run_ids != null, "run_ids or delete_all is required")
  .refine((body) => !(body.delete_all && body.run_ids != null), "run_ids and delete_all exclude each other")
  .refine((body) => body.delete_all || body.exclude_run_ids == null, "exclude_run_ids requires delete_all");

export const size = z.object({ size: z.int() });
export const sizeQuery = z.object({ status: z.enum(sections).optional() });
export const archivedQuery = z.object({ start_time: timestamp.optional(), end_time: timestamp.optional() });

export const statusParams = z.object({ annotation_queue_run_id: uuid });
export const statusBody = z.object({
  status: z.enum(["viewed", "completed"]).nullish(),
  override_added_at: timestamp.nullish(),
});
export type StatusChange = z.output<typeof statusBody>;

export const resolved = z.object({ section: z.enum(sections), position: z.int() });

export const exportBody = z.object({
  start_time: timestamp.nullish(),
  end_time: timestamp.nullish(),
  include_annotator_detail: z.boolean().default(false),
});
export const exportQuery = z.object({ format: z.enum(["csv", "json"]).default("csv") });

export const progress = z
  .object({
    total: z.int(),
    needs_my_review: z.int(),
    needs_others_review: z.int(),
    completed: z.int(),
    identity_id: z.guid(),
    reviewers: z.array(
      z.object({
        id: z.guid(),
        name: z.string().nullable(),
        email: z.string().nullable(),
        completed: z.int(),
        reserved: z.int(),
      }),
    ),
  })
  .meta({ id: "AnnotationQueueProgress" });

export const agreement = z
  .object({
    keys: z.array(
      z.object({
        feedback_key: z.string(),
        items: z.int(),
        reviewers: z.int(),
        percent_agreement: z.number(),
        kappa: z.number().nullable(),
        method: z.enum(["cohen", "fleiss"]),
      }),
    ),
    is_truncated: z.boolean(),
  })
  .meta({ id: "AnnotationQueueAgreement" });

export const nothing = jsonObject;
