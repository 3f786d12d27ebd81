import { z } from "zod";

import {
  isoTime,
  jsonObject,
  notBuilt,
  queryBoolean,
  queryLimit,
  queryMany,
  queryNotBuilt,
  queryOffset,
  timestamp,
  uuid,
} from "../../base/http/fields.ts";
import { feedbackConfig, feedbackKey } from "../feedback-configs/schema.ts";

/** A boolean counts as 1 or 0, so that it can be averaged. */
const scoreField = z
  .union([z.number(), z.boolean()])
  .transform((value) => Number(value))
  .nullable();
const valueField = z.union([z.number(), z.boolean(), z.string(), jsonObject, z.array(z.unknown())]).nullable();
const commentField = z.string().nullable();
const correctionField = z.union([jsonObject, z.string()]).nullable();

/** Content of feedback, in each of its forms. */
export const judgement = {
  score: scoreField.default(null),
  value: valueField.default(null),
  comment: commentField.default(null),
  correction: correctionField.default(null),
};

const sourceType = z.enum(["api", "app", "model", "auto_eval"]);

/** `feedbackConfig` is the JavaScript SDK's spelling. */
export const createBody = z
  .object({
    id: uuid.nullish(),
    key: feedbackKey,
    run_id: uuid.nullish(),
    session_id: uuid.nullish(),
    trace_id: uuid.nullish(),
    start_time: timestamp.nullish(),
    ...judgement,
    feedback_source: z.object({ type: sourceType.default("api"), metadata: jsonObject.nullish() }).nullish(),
    feedback_config: feedbackConfig.nullish(),
    feedbackConfig: feedbackConfig.nullish(),
    comparative_experiment_id: uuid.nullish(),
    feedback_group_id: uuid.nullish(),
    error: z.boolean().nullish(),
    extra: jsonObject.nullish(),
    /** Feedback moves its trace to the longer tier unless this is false. */
    extend_trace_retention: z.boolean().nullish(),
    // the run's location by an agent's name instead of a project
    agent_id: notBuilt("agent_id"),
    agent_environment: notBuilt("agent_environment"),
    created_at: timestamp.nullish(),
    modified_at: timestamp.nullish(),
  })
  .refine(({ run_id, session_id }) => run_id || session_id, "run_id or session_id is required")
  .meta({ id: "FeedbackCreate" });

/** Missing fields stay unchanged; null clears a field. */
export const patchBody = z
  .object({
    score: scoreField.optional(),
    value: valueField.optional(),
    comment: commentField.optional(),
    correction: correctionField.optional(),
    feedback_config: feedbackConfig.nullish(),
  })
  .meta({ id: "FeedbackUpdate" });

export const feedback = z
  .object({
    id: z.guid(),
    created_at: z.iso.datetime({ offset: true }),
    modified_at: z.iso.datetime({ offset: true }),
    key: z.string(),
    score: z.number().nullable(),
    value: z.unknown(),
    comment: z.string().nullable(),
    correction: z.union([jsonObject, z.string()]).nullable(),
    run_id: z.guid().nullable(),
    session_id: z.guid().nullable(),
    trace_id: z.guid().nullable(),
    start_time: z.iso.datetime({ offset: true }).nullable(),
    is_root: z.boolean(),
    feedback_source: z.object({
      type: sourceType,
      metadata: jsonObject.nullable(),
      user_id: z.guid().nullable(),
      ls_user_id: z.guid().nullable(),
      user_name: z.string().nullable(),
    }),
    comparative_experiment_id: z.guid().nullable(),
    feedback_group_id: z.guid().nullable(),
    extra: jsonObject.nullable(),
    feedback_thread_id: z.string().nullable(),
  })
  .meta({ id: "Feedback" });

export const feedbackParams = z.object({ feedback_id: uuid });

/** The Python client sends the name of its constant: `FeedbackSourceType.API`. */
const listedSource = z
  .string()
  .transform((value) => value.replace(/^FeedbackSourceType\./, "").toLowerCase())
  .pipe(sourceType);

export const listQuery = z.object({
  run: queryMany(uuid),
  key: queryMany(z.string()),
  session: queryMany(uuid),
  source: queryMany(listedSource),
  user: queryMany(uuid),
  has_comment: queryBoolean,
  has_score: queryBoolean,
  level: z.enum(["run", "session"]).optional(),
  min_created_at: isoTime.optional(),
  max_created_at: isoTime.optional(),
  comparative_experiment_id: uuid.optional(),
  include_user_names: queryBoolean,
  limit: queryLimit(100, 1000),
  offset: queryOffset,
});

export const readQuery = listQuery.pick({ include_user_names: true });

/** Query over a shared trace. Author and project are not exposed, so they cannot be queried either. */
export const publicListQuery = listQuery
  .pick({ run: true, key: true, source: true, has_comment: true, has_score: true, offset: true })
  .extend({
    level: z.literal("run", "a shared trace only has feedback on its runs").optional(),
    session: queryNotBuilt("session"),
    user: queryNotBuilt("user"),
    limit: queryLimit(1000, 1000),
  });

export type FeedbackCreate = z.output<typeof createBody>;
export type FeedbackPatch = z.output<typeof patchBody>;
export type FeedbackFilter = Omit<z.output<typeof listQuery>, "limit" | "offset">;
