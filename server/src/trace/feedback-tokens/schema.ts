import { z } from "zod";

import { jsonObject, queryLimit, queryOffset, timestamp, uuid } from "../../base/http/fields.ts";
import { judgement } from "../feedback/schema.ts";
import { feedbackConfig, feedbackKey } from "../feedback-configs/schema.ts";

const part = (max: number) => z.int().min(0).max(max).nullish();

const tokenRequest = z
  .object({
    run_id: uuid,
    feedback_key: feedbackKey,
    expires_in: z.object({ days: part(3650), hours: part(87_600), minutes: part(5_256_000) }).nullish(),
    expires_at: timestamp.nullish(),
    feedback_config: feedbackConfig.nullish(),
  })
  .meta({ id: "FeedbackTokenCreate" });

export const createTokensBody = z.union([tokenRequest, z.array(tokenRequest).min(1).max(1000)]);

export const token = z
  .object({
    id: z.guid(),
    url: z.string(),
    expires_at: z.iso.datetime({ offset: true }),
    feedback_key: z.string(),
  })
  .meta({ id: "FeedbackToken" });

export const listTokensQuery = z.object({ run_id: uuid, limit: queryLimit(100), offset: queryOffset });

/** Any text: a malformed UUID is an unknown token like any other. */
export const tokenParams = z.object({ token: z.string() });

export const submitBody = z.object({ ...judgement, metadata: jsonObject.nullish() }).meta({ id: "FeedbackSubmission" });

// The last of repeated parameters counts, so that a link with duplicated parameters still works.
const parameter = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value) => (Array.isArray(value) ? value.at(-1) : value));

/** Parsed further by `readParameters`, whose errors carry the headers of the token responses. */
export const submitQuery = z.object({ score: parameter, value: parameter, comment: parameter, correction: parameter });

export const acknowledgement = z.object({ message: z.string() });

export type TokenRequest = z.output<typeof tokenRequest>;
export type Submission = z.output<typeof submitBody>;
export type SubmissionParameters = z.output<typeof submitQuery>;
