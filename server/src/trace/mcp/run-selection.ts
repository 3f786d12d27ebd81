/** Plain filters of runs, and their translation to the filter language. */
import { z } from "zod";

import { RUN_TYPES } from "../run-rows/run-types.ts";
import { RUN_STATUSES } from "../runs/query-schema.ts";
import * as fields from "./fields.ts";
import { findProject } from "./find.ts";
import type { PlatformApi } from "./platform-api.ts";

const name = z.string().min(1).max(2000);

export const selecting = {
  project: fields.project,
  name: name.optional().describe("Exact name of the run."),
  run_type: z.enum(RUN_TYPES).optional(),
  status: z
    .enum(RUN_STATUSES)
    .optional()
    .describe("incomplete: has no end, although it started long ago; it was probably killed."),
  root_only: z
    .boolean()
    .default(true)
    .describe(
      "Only roots of traces, and runs that stand in for a root that has not arrived; false: all runs, such as model " +
        "and tool calls.",
    ),
  since: fields.time.optional().describe(`Earliest start. ${fields.time.description}`),
  until: fields.time.optional().describe("Latest start, in the same form."),
  min_latency_seconds: z.number().min(0).optional(),
  max_latency_seconds: z.number().min(0).optional(),
  min_total_tokens: z.number().min(0).optional(),
  min_total_cost_usd: z.number().min(0).optional(),
  tags: z.array(name).max(20).optional().describe("Tags that the run has, all of them."),
  metadata: z
    .record(z.string().min(1).max(250), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe("Metadata that the run has, all pairs."),
  thread_id: name.optional().describe("Thread (conversation) of the run."),
  text: z
    .string()
    .min(1)
    .max(10_000)
    .optional()
    .describe("Text that occurs in name, error, inputs, outputs, tags or metadata."),
  feedback_key: name.optional().describe("Feedback that the run has; with max_feedback_score: of at most this score."),
  max_feedback_score: z.number().optional(),
  filter: z
    .string()
    .max(65_536)
    .optional()
    .describe(
      'Expression of the filter language, in addition: and(eq(run_type, "llm"), gt(latency, "5s"), has(tags, "x")). ' +
        "Functions: and or not eq neq gt gte lt lte in like search has exists.",
    ),
};

const selection = z.object(selecting);
export type RunSelection = z.output<typeof selection>;

/** Returns the condition of the filter language that means the plain filters. */
export function toFilter(plain: RunSelection): string | undefined {
  const text = (value: unknown): string => JSON.stringify(value);
  const conditions = [
    plain.name !== undefined && `eq(name, ${text(plain.name)})`,
    plain.run_type && `eq(run_type, ${text(plain.run_type)})`,
    plain.status && `eq(status, ${text(plain.status)})`,
    plain.min_latency_seconds !== undefined && `gte(latency, ${plain.min_latency_seconds})`,
    plain.max_latency_seconds !== undefined && `lte(latency, ${plain.max_latency_seconds})`,
    plain.min_total_tokens !== undefined && `gte(total_tokens, ${plain.min_total_tokens})`,
    plain.min_total_cost_usd !== undefined && `gte(total_cost, ${plain.min_total_cost_usd})`,
    ...(plain.tags ?? []).map((tag) => `has(tags, ${text(tag)})`),
    plain.metadata &&
      Object.keys(plain.metadata).length > 0 &&
      `has(metadata, ${text(JSON.stringify(plain.metadata))})`,
    plain.thread_id !== undefined && `eq(thread_id, ${text(plain.thread_id)})`,
    plain.text !== undefined && `search(${text(plain.text)})`,
    plain.feedback_key !== undefined &&
      `and(eq(feedback_key, ${text(plain.feedback_key)})${plain.max_feedback_score === undefined ? "" : `, lte(feedback_score, ${plain.max_feedback_score})`})`,
    plain.filter,
  ].filter((condition): condition is string => typeof condition === "string" && condition !== "");
  return conditions.length > 1 ? `and(${conditions.join(", ")})` : conditions[0];
}

/** Returns the selection as bodies of the routes of runs take it. */
export async function toQuery(api: PlatformApi, plain: RunSelection): Promise<object> {
  return {
    session: [await findProject(api, plain.project)],
    ...(plain.root_only && { is_root: true, include_provisional_roots: true }),
    start_time: fields.toTime(plain.since),
    end_time: fields.toTime(plain.until),
    filter: toFilter(plain),
  };
}
