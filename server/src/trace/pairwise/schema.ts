import { z } from "zod";

import { jsonObject, queryLimit, storableText, uuid } from "../../base/http/fields.ts";
import { feedbackKey } from "../feedback-configs/schema.ts";

/** Feedback key of comparisons that name none. */
export const DEFAULT_KEY = "preference";

export const comparisonParams = z.object({ comparative_experiment_id: uuid });
export const pairParams = comparisonParams.extend({ example_id: uuid });

export const createBody = z
  .object({
    /** Two experiments on one dataset. */
    experiment_ids: z
      .array(uuid)
      .length(2)
      .refine(([a, b]) => a !== b, "must be two experiments"),
    name: storableText.min(1).max(2000).nullish(),
    key: feedbackKey.default(DEFAULT_KEY),
    instructions: storableText.max(10_000).nullish(),
  })
  .meta({ id: "PairwiseReviewCreate" });

export const review = z
  .object({
    id: z.guid(),
    name: z.string().nullable(),
    dataset_id: z.guid(),
    experiment_ids: z.array(z.guid()),
    key: z.string(),
    instructions: z.string().nullable(),
  })
  .meta({ id: "PairwiseReview" });

const shownRun = z.object({
  run_id: z.guid(),
  experiment_id: z.guid(),
  outputs: z.unknown(),
  error: z.string().nullable(),
});

export const pair = z
  .object({
    example_id: z.guid(),
    inputs: jsonObject,
    reference_outputs: jsonObject.nullable(),
    /** In the order in which this reviewer sees them, which does not tell the experiment. */
    runs: z.array(shownRun),
    /** The caller's judgement: the better run, "tie", or null. */
    preferred: z.string().nullable(),
    comment: z.string().nullable(),
  })
  .meta({ id: "ReviewPair" });

export const pairsQuery = z.object({
  status: z.enum(["open", "judged", "all"]).default("open"),
  /** Only this pair. */
  example_id: uuid.optional(),
  limit: queryLimit(3, 20),
});

export const pairs = z.object({
  items: z.array(pair),
  /** Examples that both experiments have. */
  total: z.int(),
  /** By the caller. */
  judged: z.int(),
});

export const judgementBody = z
  .object({
    /** The better run; null: neither. */
    preferred: uuid.nullable(),
    comment: storableText.max(10_000).nullish(),
  })
  .meta({ id: "PairJudgement" });

const interval = z.array(z.number()).length(2).nullable();
const wins = z.array(z.int()).length(2);

export const results = z
  .object({
    review,
    experiments: z.array(z.object({ id: z.guid(), name: z.string() })),
    pairs: z.int(),
    keys: z.array(
      z.object({
        key: z.string(),
        judged: z.int(),
        /** Examples that the first or the second experiment wins on average over its reviewers. */
        wins,
        ties: z.int(),
        /** Of the second experiment over the first: a tie counts half. */
        win_rate: z.number().nullable(),
        interval,
        /** Fraction of pairs of judgements on one example that agree; null without any. */
        agreement: z.number().nullable(),
        reviewers: z.array(
          z.object({
            reviewer: z.string(),
            name: z.string().nullable(),
            kind: z.enum(["person", "judge", "api"]),
            judged: z.int(),
            wins,
            ties: z.int(),
          }),
        ),
      }),
    ),
  })
  .meta({ id: "PairwiseResults" });

export type Review = z.output<typeof review>;
export type Pair = z.output<typeof pair>;
export type Results = z.output<typeof results>;
