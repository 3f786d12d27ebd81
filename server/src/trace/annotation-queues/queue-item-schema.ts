/** Items of the newest clients: `/v1/platform/annotation-queues/{queue_id}/items`. */
import { z } from "zod";

import {
  isoTime,
  queryBoolean,
  queryLimit,
  queryNotBuilt,
  storableText,
  timestamp,
  uuid,
} from "../../base/http/fields.ts";
import { MAX_ADDED } from "./item-schema.ts";

const MAX_THREADS = 200;

/** `archived` here is `completed` of the older endpoints. */
const section = z.enum(["needs_my_review", "needs_others_review", "archived"]);
const itemType = z.enum(["RUN", "THREAD"]);

const newItem = z
  .object({
    item_type: itemType.nullish(),
    run_id: uuid.nullish(),
    project_id: uuid.nullish(),
    session_id: uuid.nullish(),
    start_time: timestamp.nullish(),
    thread_id: storableText.max(1000).nullish(),
    source_proposed_example_id: uuid.nullish(),
  })
  .transform((item) => ({
    ...item,
    item_type: item.item_type ?? (item.run_id == null && item.thread_id ? "THREAD" : "RUN"),
    project_id: item.project_id ?? item.session_id ?? null,
  }))
  .superRefine((item, context) => {
    if (item.item_type === "RUN" && item.run_id == null) {
      context.addIssue("run_id is required; proposed examples are reviewed on the dataset's page");
    }
    if (item.item_type === "THREAD" && !item.thread_id) context.addIssue("thread_id is required");
    if (item.item_type === "THREAD" && item.project_id === null) context.addIssue("project_id is required");
  });
export type NewQueueItem = z.output<typeof newItem>;

export const createItemsBody = z
  .object({
    items: z
      .array(newItem)
      .max(MAX_ADDED)
      .refine(
        (items) => items.filter((item) => item.item_type === "THREAD").length <= MAX_THREADS,
        `must have at most ${MAX_THREADS} threads`,
      )
      .default([]),
  })
  .meta({ id: "AnnotationQueueItemsCreate" });

export const createItemsQuery = z.object({ extend_trace_retention: queryBoolean });

const time = z.iso.datetime({ offset: true });

/** `PAIR` and `other_run_id` occur in pairwise queues, which the clients do not know. */
export const queueItem = z
  .object({
    id: z.guid(),
    queue_id: z.guid(),
    item_type: z.enum(["RUN", "THREAD", "PAIR"]),
    run_id: z.guid().nullable(),
    project_id: z.guid(),
    thread_id: z.string().nullable(),
    other_run_id: z.guid().nullable(),
    start_time: time.nullable(),
    added_at: time,
    effective_added_at: time,
    last_reviewed_time: time.nullable(),
    source_proposed_example_id: z.guid().nullable(),
    reserved_by: z.array(z.guid()),
    completed_by: z.array(z.guid()),
  })
  .meta({ id: "AnnotationQueueItem" });

export const createdItems = z.object({ items: z.array(queueItem) });
export const listedItems = z.object({ items: z.array(queueItem), next_cursor: z.string().nullable() });

export const itemParams = z.object({ queue_id: uuid, item_id: uuid });
export const statusParams = z.object({ queue_item_id: uuid });

/** The clients send Go's zero time for no bound. */
const bound = z
  .string()
  .transform((text) => (text.startsWith("0001-01-01") ? undefined : text))
  .pipe(isoTime.optional())
  .optional();

const startTimes = { min_start_time: bound, max_start_time: bound };

export const listItemsQuery = z
  .object({
    status: section,
    item_type: itemType.optional(),
    direction: z.enum(["forward", "backward"]).default("forward"),
    cursor: z.string().max(500).optional(),
    page_size: queryLimit(100, 100),
    agreement: queryNotBuilt("agreement"),
    has_unresolved_keys: queryNotBuilt("has_unresolved_keys"),
    ...startTimes,
  })
  .refine(({ direction, cursor }) => direction === "forward" || cursor, "direction=backward requires cursor");

export const countQuery = z.object({
  status: z.enum([...section.options, "all"]),
  start_time: bound,
  end_time: bound,
  ...startTimes,
});
export const counted = z.object({ count: z.int() });

export const patchItemBody = z.object({ added_at: timestamp.nullish(), last_reviewed_time: timestamp.nullish() });

export const deleteItemsBody = z.object({ item_ids: z.array(uuid).max(10_000).default([]) });

export const deletedItems = z.object({ message: z.string() });

export const statusAnswer = z.object({
  queue_item_id: z.guid(),
  status: z.enum(["viewed", "completed"]).nullable(),
  override_added_at: time.nullable(),
  is_archived: z.boolean(),
});

export const placement = z.object({
  item_type: z.enum(["RUN", "THREAD", "PAIR"]),
  section,
  position: z.int(),
  cursor: z.string(),
});

export const pairsBody = z
  .object({
    pairs: z
      .array(z.object({ run_id: uuid, other_run_id: uuid }))
      .min(1)
      .max(MAX_ADDED),
  })
  .meta({ id: "AnnotationQueuePairs" });

export type Section = z.output<typeof section>;
