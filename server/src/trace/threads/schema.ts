import { z } from "zod";

import { jsonObject, limit, offset, queryMany, queryNotBuilt, uuid } from "../../base/http/fields.ts";
import { isThreadSortKey, THREAD_SORT_KEYS, type ThreadSortKey } from "../runs/sort-keys.ts";
import { microTime } from "../runs/query-schema.ts";
import { cursor, expression, notBuiltInV2, pageSize, sortOrder, window } from "../runs/v2-schema.ts";

/** Threads, as the LangSmith API has them. */

const optional = <T extends z.ZodType>(item: T) => item.nullish().transform((value) => value ?? undefined);

/** Heddle's own: by what the list shows. */
const sortKey = z
  .string()
  .max(300)
  .refine(isThreadSortKey, `must be ${THREAD_SORT_KEYS}`)
  .nullish()
  .transform((key) => (key ?? "start_time") as ThreadSortKey);

export const groupBody = z.object({
  session_id: uuid,
  group_by: z.literal("conversation", 'must be "conversation"'),
  filter: expression,
  start_time: optional(microTime),
  end_time: optional(microTime),
  order_by: sortKey,
  order: z.enum(["asc", "desc"]).default("desc"),
  offset,
  limit: limit(10, 100),
});
export type GroupBody = z.output<typeof groupBody>;

const time = z.string().nullable();
const text = z.string().nullable();

export const group = z.object({
  thread_id: z.string(),
  group_key: z.string(),
  filter: z.string(),
  count: z.int(),
  total_tokens: z.number().nullable(),
  total_cost: z.number().nullable(),
  min_start_time: time,
  max_start_time: time,
  latency_p50: z.number().nullable(),
  latency_p99: z.number().nullable(),
  feedback_stats: jsonObject,
  first_inputs: text,
  last_outputs: text,
  last_error: text,
});
export const groups = z.object({ groups: z.array(group), total: z.int() });

export const FORMATS = ["all_messages", "human_ai_pairs", "first_human_last_ai"] as const;
export type Format = (typeof FORMATS)[number];

export const threadParams = z.object({ thread_id: z.string().min(1) });
export const previewQuery = z.object({
  session_id: uuid,
  select: queryMany(z.enum(FORMATS), 10),
  variables: queryNotBuilt("variables"),
});
export const preview = z.object({ thread_id: z.string(), previews: z.record(z.string(), z.string()) });

export const threadsBody = z.object({
  ...window,
  ...notBuiltInV2,
  project_id: uuid,
  filter: expression,
  thread_filter: expression,
  trace_filter: expression,
  tree_filter: expression,
  order_by: sortKey,
  sort_order: sortOrder,
  cursor,
  page_size: pageSize(20, 100),
});
export type ThreadsBody = z.output<typeof threadsBody>;

export const thread = z
  .object({
    thread_id: z.string(),
    count: z.int(),
    trace_id: uuid,
    first_trace_id: uuid,
    last_trace_id: uuid,
    start_time: z.string(),
    min_start_time: z.string(),
    max_start_time: z.string(),
    num_errored_turns: z.int(),
  })
  .loose();
export const threadsPage = z.object({
  items: z.array(thread),
  has_more: z.boolean(),
  next_cursor: z.string().optional(),
});

const TRACE_FIELDS = [
  "THREAD_ID",
  "TRACE_ID",
  "OP",
  "PROMPT_TOKENS",
  "COMPLETION_TOKENS",
  "TOTAL_TOKENS",
  "START_TIME",
  "END_TIME",
  "LATENCY",
  "FIRST_TOKEN_TIME",
  "INPUTS_PREVIEW",
  "OUTPUTS_PREVIEW",
  "INPUTS",
  "OUTPUTS",
  "ERROR",
  "PROMPT_COST",
  "COMPLETION_COST",
  "TOTAL_COST",
  "PROMPT_TOKEN_DETAILS",
  "COMPLETION_TOKEN_DETAILS",
  "PROMPT_COST_DETAILS",
  "COMPLETION_COST_DETAILS",
  "NAME",
  "ERROR_PREVIEW",
] as const;

export const tracesQuery = z.object({
  project_id: uuid,
  filter: z.string().max(65_536).optional(),
  selects: queryMany(z.enum(TRACE_FIELDS), 100),
  cursor: z.string().max(1000).optional(),
  page_size: z.coerce.number().int().min(1).max(100).default(20),
});
export const tracesPage = z.object({
  items: z.array(z.object({ trace_id: uuid }).loose()),
  has_more: z.boolean(),
  next_cursor: z.string().optional(),
});

export const STATS = [
  "TURNS",
  "FIRST_START_TIME",
  "LAST_START_TIME",
  "LAST_END_TIME",
  "LATENCY_P50",
  "LATENCY_P99",
  "PROMPT_TOKENS",
  "PROMPT_COST",
  "COMPLETION_TOKENS",
  "COMPLETION_COST",
  "TOTAL_TOKENS",
  "TOTAL_COST",
  "PROMPT_TOKEN_DETAILS",
  "COMPLETION_TOKEN_DETAILS",
  "PROMPT_COST_DETAILS",
  "COMPLETION_COST_DETAILS",
  "FEEDBACK_STATS",
] as const;
export const statsQuery = z.object({
  session_id: uuid,
  filter: z.string().max(65_536).optional(),
  selects: queryMany(z.enum(STATS), 100),
});
export const threadStats = z
  .object({ turns: z.int(), total_tokens: z.number(), total_cost: z.number() })
  .partial()
  .loose();
