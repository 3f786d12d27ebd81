import { z } from "zod";

import { limit, offset, uuid } from "../../base/http/fields.ts";
import { feedbackKey } from "../feedback-configs/schema.ts";
import { experimentRunsBody } from "./schema.ts";

const compared = {
  baseline_session_id: uuid,
  comparison_session_ids: z.array(uuid).min(1).max(50),
  filters: experimentRunsBody.shape.filters,
};

export const deltaBody = z
  .object({
    ...compared,
    feedback_key: feedbackKey,
    comparative_experiment_id: uuid.nullish(),
    offset,
    limit: limit(100, 100),
  })
  .meta({ id: "FeedbackDeltaQuery" });

export const deltaBatchBody = z
  .object({ ...compared, feedback_keys: z.array(feedbackKey).min(1).max(100) })
  .meta({ id: "FeedbackDeltaBatchQuery" });

export const feedbackDeltas = z
  .object({
    feedback_deltas: z.record(
      z.guid(),
      z.object({ improved_examples: z.array(z.guid()), regressed_examples: z.array(z.guid()) }),
    ),
  })
  .meta({ id: "FeedbackDeltas" });

export type DeltaQuery = Omit<z.output<typeof deltaBody>, "feedback_key">;
export type Deltas = z.output<typeof feedbackDeltas>["feedback_deltas"];
