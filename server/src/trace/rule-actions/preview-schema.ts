import { z } from "zod";

import { storableText, timestamp, uuid } from "../../base/http/fields.ts";
import { bounded } from "../runs/query-schema.ts";

const filter = storableText.max(65_536).nullish();

export const previewBody = z
  .object({
    session_id: uuid.nullish(),
    dataset_id: uuid.nullish(),
    filter,
    trace_filter: filter,
    tree_filter: filter,
    group_by: z.literal("thread_id").nullish(),
    sampling_rate: z.number().min(0).max(1).default(1),
    /** Default: a week ago. */
    backfill_from: bounded(timestamp).nullish(),
    evaluator_id: uuid.nullish(),
    evaluator_version: z.int().min(1).nullish(),
  })
  .refine(({ session_id, dataset_id }) => session_id == null || dataset_id == null, {
    message: "a rule has a project or a dataset, not both",
    path: ["dataset_id"],
  })
  .meta({ id: "RulePreviewRequest" });

const time = z.iso.datetime({ offset: true });

export const preview = z
  .object({
    backfill_from: time,
    backfill_to: time,
    /** Runs that pass the filter. */
    runs: z.int(),
    /** Threads with such runs, of a rule on threads. */
    threads: z.int().nullable(),
    /** Runs or threads, times the sampling rate. */
    estimated_actions: z.int(),
    /** Of one judgement; null without an evaluator, or when its price is unknown. */
    cost_per_action_usd: z.string().nullable(),
    estimated_cost_usd: z.string().nullable(),
    /** `recent`: mean of the last 30 days. `prompt`: by the prompt's length and the model's price. */
    cost_basis: z.enum(["recent", "prompt", "none"]),
    /** The newest runs that pass the filter. */
    sample: z.array(
      z.object({
        id: z.guid(),
        trace_id: z.guid(),
        session_id: z.guid(),
        name: z.string(),
        run_type: z.string(),
        start_time: time,
        error: z.string().nullable(),
        inputs_preview: z.string().nullable(),
        outputs_preview: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "RulePreview" });
export type PreviewBody = z.output<typeof previewBody>;
export type Preview = z.output<typeof preview>;
