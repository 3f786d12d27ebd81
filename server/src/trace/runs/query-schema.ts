import { z } from "zod";

import { jsonObject, queryBoolean, uuid } from "../../base/http/fields.ts";
import { RUN_TYPES } from "../run-rows/run-types.ts";
import { type MicroTime, parseTime } from "../run-rows/times.ts";
import { SELECTABLE_V1 } from "./serialize-v1.ts";
import { isSortKey, SORT_KEYS, type SortKey } from "./sort-keys.ts";

/** Contract trace-platform §3.1 to §3.4. Clients send null for unset fields. */

export const RUN_STATUSES = ["success", "error", "pending", "interrupted", "cancelled", "incomplete"] as const;

/** Time in any form of §0.5, converted for ClickHouse. */
export const microTime = z.union([z.string(), z.number()]).transform(toMicroTime);

export function toMicroTime(value: string | number, ctx: z.RefinementCtx): MicroTime {
  const time = parseTime(value);
  if (time !== undefined) return time;
  ctx.addIssue("must be an ISO 8601 time or milliseconds since 1970, between 1900 and 2299");
  return z.NEVER;
}

/** Restricts the bounds of a query, as ISO text, to times that the store can have; beyond them a bound would be ignored. */
export const bounded = <T extends z.ZodType<string>>(time: T) =>
  time.refine((text) => parseTime(text) !== undefined, "must be a time in the years 1900 to 2298");

/** Single item or list. */
const some = <T extends z.ZodType>(item: T, max: number) =>
  z
    .union([item, z.array(item).max(max)])
    .nullish()
    .transform((value) => (value == null ? undefined : ([value].flat() as z.output<T>[])));

const optional = <T extends z.ZodType>(item: T) => item.nullish().transform((value) => value ?? undefined);

const expression = optional(z.string().max(65_536));

/** Own to Heddle: what runs are sorted by; those without a value come last, in both directions. */
export const sortKey = optional(
  z
    .union([z.enum(SORT_KEYS), z.string().startsWith("feedback:")], `must be ${SORT_KEYS.join(", ")} or feedback:<key>`)
    .refine(isSortKey, "must name a feedback key of at most 200 characters: feedback:<key>")
    .transform((key) => key as SortKey),
);

/** Selection of runs, the same in queries and statistics. */
const selecting = {
  id: some(uuid, 1000),
  trace: optional(uuid),
  parent_run: optional(uuid),
  run_type: optional(z.enum(RUN_TYPES)),
  session: some(uuid, 100),
  reference_example: some(uuid, 1000),
  execution_order: optional(z.literal(1, "must be 1, for root runs")),
  start_time: optional(microTime),
  end_time: optional(microTime),
  error: optional(z.boolean()),
  /** Text that occurs anywhere in the run. */
  query: optional(z.string().max(10_000)),
  filter: expression,
  trace_filter: expression,
  tree_filter: expression,
  search_filter: expression,
  is_root: optional(z.boolean()),
  /** With `is_root`: also runs that stand in for a root that has not arrived. */
  include_provisional_roots: optional(z.boolean()),
  /** Storage location of the hosted service, ignored: there is only one here. */
  data_source_type: z.string().nullish(),
  use_experimental_search: z.boolean().nullish(),
};

export const selectionBody = z.object(selecting);
export type SelectionBody = z.output<typeof selectionBody>;

export const queryBody = z
  .object({
    ...selecting,
    skip_pagination: z.boolean().nullish(),
    skip_prev_cursor: z.boolean().nullish(),
    // those of lists that are sorted by name contain one
    cursor: optional(z.string().max(4000)),
    // clients pass on their user's limit, so a larger one returns a full page
    limit: z
      .int()
      .min(1)
      .nullish()
      .transform((limit) => Math.min(limit ?? 100, 100)),
    select: optional(z.array(z.enum(SELECTABLE_V1)).max(200)),
    // a leading minus of the vendor's clients means descending, the default
    order_by: z.preprocess((key) => (typeof key === "string" ? key.replace(/^-/, "") : key), sortKey),
    order: z
      .enum(["asc", "desc"])
      .nullish()
      .transform((order) => order ?? "desc"),
  })
  .meta({ id: "RunsQuery" });
export type QueryBody = z.output<typeof queryBody>;

const text = z.string().nullable();
const naiveTime = z.string();
const tokenCount = z.int();
const cost = z.string().nullable();

const counting = z.enum(["inside", "beside"]);
const evidence = z.enum(["numbers", "format", "provider", "standard"]);
const costBasis = z
  .object({
    cached_tokens: counting,
    cached_tokens_by: evidence,
    reasoning_tokens: counting,
    reasoning_tokens_by: evidence,
    cost: z.enum(["client", "price"]),
    notes: z.array(z.string()),
  })
  .partial();

/** Fields always present, and those that may be selected. */
export const run = z
  .object({
    id: uuid,
    name: z.string(),
    run_type: z.string(),
    start_time: naiveTime,
    trace_id: uuid,
    dotted_order: z.string(),
    status: z.string(),
    session_id: uuid,
    app_path: z.string(),
  })
  .extend(
    z
      .object({
        end_time: naiveTime.nullable(),
        error: text,
        // any JSON the client sent
        extra: z.unknown(),
        events: z.unknown(),
        inputs: z.unknown(),
        outputs: z.unknown(),
        serialized: z.unknown(),
        inputs_preview: text,
        outputs_preview: text,
        parent_run_id: uuid.nullable(),
        parent_run_ids: z.array(z.string()),
        child_run_ids: z.array(uuid),
        direct_child_run_ids: z.array(uuid),
        thread_id: text,
        tags: z.array(z.string()),
        reference_example_id: uuid.nullable(),
        reference_dataset_id: uuid.nullable(),
        total_tokens: tokenCount,
        prompt_tokens: tokenCount,
        completion_tokens: tokenCount,
        prompt_token_details: jsonObject.nullable(),
        completion_token_details: jsonObject.nullable(),
        total_cost: cost,
        prompt_cost: cost,
        completion_cost: cost,
        prompt_cost_details: jsonObject.nullable(),
        completion_cost_details: jsonObject.nullable(),
        first_token_time: naiveTime.nullable(),
        feedback_stats: jsonObject.nullable(),
        in_dataset: z.boolean(),
        share_token: uuid.nullable(),
        trace_tier: z.enum(["longlived", "shortlived"]),
        trace_first_received_at: naiveTime.nullable(),
        ttl_seconds: z.int().nullable(),
        s3_urls: jsonObject.nullable(),
        inputs_s3_urls: z.null(),
        outputs_s3_urls: z.null(),
        manifest: z.unknown(),
        manifest_id: z.unknown(),
        manifest_s3_id: z.unknown(),
        messages: z.unknown(),
        price_model_id: text,
        /** How tokens were counted, where the cost comes from, and what it does not contain. */
        cost_basis: costBasis.nullable(),
        last_queued_at: z.null(),
        inserted_at: naiveTime.nullable(),
        trace_min_start_time: naiveTime.nullable(),
        trace_max_start_time: naiveTime.nullable(),
        trace_upgrade: z.boolean(),
        execution_order: z.int(),
        is_provisional_root: z.boolean(),
      })
      .partial().shape,
  )
  // and fields that are null for all runs
  .loose()
  .meta({ id: "RunSchema" });

export const sharedRun = run.omit({ session_id: true, app_path: true }).meta({ id: "RunPublicSchema" });

export const queryAnswer = z.object({
  runs: z.array(run),
  cursors: z.object({ next: text, prev: text }),
  search_cursors: z.null(),
  parsed_query: z.null(),
});

export const runParams = z.object({ run_id: uuid });

export const readQuery = z.object({
  session_id: uuid.optional(),
  start_time: z.string().optional(),
  exclude_s3_stored_attributes: queryBoolean,
  exclude_serialized: queryBoolean,
  include_messages: queryBoolean,
});

export const validationAnswer = z.object({
  valid: z.boolean(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })),
});
