import { z } from "zod";

import { jsonObject, storableText, uuid } from "../../base/http/fields.ts";
import { judgement } from "../feedback/schema.ts";
import { feedbackKey } from "../feedback-configs/schema.ts";

const MAX_ANSWERS = 100;

const answer = z
  .object({
    feedback_key: feedbackKey,
    score: judgement.score,
    value: judgement.value,
    comment: storableText.max(20_000).nullish(),
    /** Of a pair of runs: the better one. `a` is the item's run, `b` the other one. */
    preferred: z.enum(["a", "b", "tie"]).optional(),
  })
  .meta({ id: "AnnotationQueueReviewAnswer" });
export type ReviewAnswer = z.output<typeof answer>;

export const reviewBody = z
  .object({
    answers: z.array(answer).max(MAX_ANSWERS).default([]),
    comment: storableText.max(20_000).nullish(),
    /** Corrected outputs. They become an example of the queue's dataset. */
    correction: jsonObject.nullish(),
    /** Another dataset than the queue's. */
    dataset_id: uuid.nullish(),
  })
  .meta({ id: "AnnotationQueueReview" });
export type ReviewBody = z.output<typeof reviewBody>;

export const reviewed = z
  .object({
    queue_item_id: z.guid(),
    status: z.literal("completed"),
    is_archived: z.boolean(),
    feedback_ids: z.array(z.guid()),
    /** Of a correction. */
    example_id: z.guid().nullable(),
  })
  .meta({ id: "AnnotationQueueReviewed" });
