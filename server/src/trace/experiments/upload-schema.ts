import { z } from "zod";

import { jsonObject, storableText, timestamp, uuid } from "../../base/http/fields.ts";
import { dataset } from "../datasets/schema.ts";
import { createBody as feedbackBody } from "../feedback/schema.ts";
import { projectWithStats } from "../projects/schema.ts";

/** Rows of an upload, which is validated as a whole. */
const MAX_ROWS = 10_000;

/** Feedback without what it is on. */
const score = z
  .object(feedbackBody.shape)
  .omit({ run_id: true, session_id: true, trace_id: true, start_time: true, feedbackConfig: true })
  .meta({ id: "UploadedScore" });

const uploadedRow = z
  .object({
    /** The example's id. */
    row_id: uuid.nullish(),
    inputs: jsonObject,
    expected_outputs: jsonObject.nullish(),
    actual_outputs: jsonObject.nullish(),
    evaluation_scores: z.array(score).max(100).nullish(),
    start_time: timestamp,
    end_time: timestamp,
    run_name: z.string().max(4096).nullish(),
    error: z.string().nullish(),
    run_metadata: jsonObject.nullish(),
  })
  .refine((row) => Date.parse(row.start_time) <= Date.parse(row.end_time), "end_time must not be before start_time")
  .meta({ id: "UploadedExperimentRow" });

export const uploadBody = z
  .object({
    experiment_name: storableText.min(1).max(2000),
    experiment_description: storableText.nullish(),
    experiment_start_time: timestamp,
    experiment_end_time: timestamp,
    experiment_metadata: jsonObject.nullish(),
    dataset_id: uuid.nullish(),
    dataset_name: storableText.min(1).max(512).nullish(),
    dataset_description: storableText.max(100_000).nullish(),
    summary_experiment_scores: z.array(score).max(100).nullish(),
    results: z.array(uploadedRow).max(MAX_ROWS),
  })
  .refine(
    (body) => Date.parse(body.experiment_start_time) <= Date.parse(body.experiment_end_time),
    "experiment_end_time must not be before experiment_start_time",
  )
  .refine((body) => body.dataset_id != null || body.dataset_name != null, "dataset_id or dataset_name is required")
  .meta({ id: "ExperimentUpload" });

export const uploadAnswer = z
  .object({ dataset, experiment: projectWithStats.partial() })
  .meta({ id: "UploadedExperiment" });

export type ExperimentUpload = z.output<typeof uploadBody>;
export type UploadedScore = z.output<typeof score>;
export type UploadedRow = z.output<typeof uploadedRow>;
