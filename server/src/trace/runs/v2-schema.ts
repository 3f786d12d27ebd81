import { z } from "zod";

import { isoTime, queryMany, uuid } from "../../base/http/fields.ts";
import { SELECTABLE_V2 } from "./serialize-v2.ts";
import { RUN_TYPES } from "../run-rows/run-types.ts";
import { microTime, RUN_STATUSES, sortKey, toMicroTime } from "./query-schema.ts";

/** Contract trace-platform §3.5. */

const optional = <T extends z.ZodType>(item: T) => item.nullish().transform((value) => value ?? undefined);

export const expression = optional(z.string().max(65_536));
const selectable = z.enum(SELECTABLE_V2).meta({ id: "RunV2Field" });
export const selects = optional(z.array(selectable).max(200));
export const querySelects = queryMany(selectable, 200);
export const pageSize = (byDefault: number, max: number) =>
  z
    .int()
    .min(1)
    .max(max)
    .nullish()
    .transform((n) => n ?? byDefault);
export const sortOrder = z
  .enum(["ASC", "DESC"])
  .nullish()
  .transform((order) => order ?? "DESC");
/** Those of lists that are sorted by name contain one. */
export const cursor = optional(z.string().max(4000));
/** Time in a query string, converted for ClickHouse. */
export const queryTime = isoTime.transform(toMicroTime).optional();

/** Time window; the default is the last day. */
export const window = { min_start_time: optional(microTime), max_start_time: optional(microTime) };

const NOT_BUILT = [
  "ai_query",
  "ai_search",
  "sem_filter",
  "max_feedback_modified_at",
  "min_feedback_modified_at",
] as const;

/** Parameters that would change the result, so that ignoring them would return the wrong runs. */
export const notBuiltInV2 = Object.fromEntries(
  NOT_BUILT.map((name) => [name, z.null(`"${name}" is not supported; leave it out`).optional()]),
) as Record<(typeof NOT_BUILT)[number], z.ZodOptional<z.ZodNull>>;

export const queryBody = z
  .object({
    ...window,
    ...notBuiltInV2,
    project_ids: optional(z.array(uuid).min(1).max(100)),
    reference_dataset_id: optional(uuid),
    ids: optional(z.array(uuid).max(1000)),
    trace_id: optional(uuid),
    run_type: optional(z.enum(RUN_TYPES.map((type) => type.toUpperCase()))),
    is_root: optional(z.boolean()),
    has_error: optional(z.boolean()),
    reference_examples: optional(z.array(uuid).max(1000)),
    filter: expression,
    trace_filter: expression,
    tree_filter: expression,
    include_subtree_usage: optional(z.boolean()),
    selects,
    order_by: sortKey,
    sort_order: sortOrder,
    cursor,
    page_size: pageSize(100, 1000),
  })
  .refine((body) => (body.project_ids === undefined) !== (body.reference_dataset_id === undefined), {
    path: ["project_ids"],
    message: "exactly one of project_ids and reference_dataset_id is required",
  });
export type QueryBody = z.output<typeof queryBody>;

export const tracesBody = z.object({
  ...window,
  ...notBuiltInV2,
  project_id: uuid,
  trace_ids: optional(z.array(uuid).max(1000)),
  trace_filter: expression,
  tree_filter: expression,
  selects,
  cursor,
  page_size: pageSize(20, 100),
});
export type TracesBody = z.output<typeof tracesBody>;

export const run = z
  .object({
    id: uuid,
    name: z.string(),
    run_type: z.enum(RUN_TYPES.map((type) => type.toUpperCase())),
    status: z.enum(RUN_STATUSES.map((status) => status.toUpperCase())),
    start_time: z.string(),
    end_time: z.string().nullable(),
    latency_seconds: z.number(),
    inputs: z.unknown(),
    outputs: z.unknown(),
    project_id: uuid,
    trace_id: uuid,
    is_root: z.boolean(),
    total_tokens: z.number(),
    total_cost: z.number(),
    tags: z.array(z.string()),
  })
  .partial()
  .loose()
  .meta({ id: "RunV2" });

export const page = z.object({ items: z.array(run), has_more: z.boolean(), next_cursor: z.string().optional() });

export const traceItem = z.object({
  root_run: run,
  trace_aggregates: z.object({
    total_tokens: z.number().nullable(),
    total_cost: z.number().nullable(),
    first_token_time: z.string().nullable(),
  }),
  /** The trace's root has not arrived; `root_run` stands in for it. */
  is_provisional_root: z.literal(true).optional(),
});
export const tracesPage = z.object({
  items: z.array(traceItem),
  has_more: z.boolean(),
  next_cursor: z.string().optional(),
});

export const runParams = z.object({ run_id: uuid });
export const traceParams = z.object({ trace_id: uuid });
export const retrieveQuery = z.object({ project_id: uuid, start_time: isoTime.optional(), selects: querySelects });
export const urlQuery = z.object({ project_id: uuid, trace_id: uuid, start_time: isoTime.optional() });
export const traceRunsQuery = z.object({
  project_id: uuid,
  min_start_time: queryTime,
  max_start_time: queryTime,
  filter: z.string().max(65_536).optional(),
  selects: querySelects,
});
