import { z } from "zod";

import { uuid } from "../../base/http/fields.ts";

export const judgeBody = z
  .object({
    /** An evaluator of pairs. */
    evaluator_id: uuid,
    /** Default: the newest. */
    version: z.int().min(1).max(1_000_000).nullish(),
  })
  .meta({ id: "PairwiseJudgeStart" });

export const judgeJob = z
  .object({
    id: z.guid(),
    comparative_experiment_id: z.guid(),
    evaluator_id: z.guid(),
    evaluator_version: z.int().nullable(),
    status: z.enum(["queued", "running", "completed", "cancelled", "failed"]),
    total: z.int(),
    judged: z.int(),
    /** Pairs that the evaluator could not judge. */
    failed: z.int(),
    error: z.string().nullable(),
    created_at: z.iso.datetime({ offset: true }),
    finished_at: z.iso.datetime({ offset: true }).nullable(),
  })
  .meta({ id: "PairwiseJudgeJob" });

export type JudgeJob = z.output<typeof judgeJob>;
