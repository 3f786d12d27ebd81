import { z } from "zod";

import { limit, notBuilt, offset, uuid } from "../../base/http/fields.ts";
import { feedback } from "../feedback/schema.ts";
import { run } from "../runs/query-schema.ts";
import { cursor, pageSize, run as runV2, selects } from "../runs/v2-schema.ts";
import { example } from "../examples/schema.ts";

const filters = z.record(uuid, z.array(z.string().max(65_536)).max(20)).nullish();

const sortBy = z.string().min(1).max(200);

export const experimentRunsBody = z
  .object({
    session_ids: z.array(uuid).min(1).max(50),
    example_ids: z.array(uuid).max(1000).nullish(),
    filters,
    comparative_experiment_id: uuid.nullish(),
    /** Previews of inputs and outputs instead of the full values. */
    preview: z.boolean().default(false),
    limit: limit(20, 100),
    offset,
    /** By the average score of one experiment: `feedback.KEY`. */
    sort_params: z.object({ sort_by: sortBy, sort_order: z.enum(["ASC", "DESC"]).default("DESC") }).nullish(),
    include_annotator_detail: z.literal(false, "is not supported yet; leave it out").nullish(),
  })
  .meta({ id: "ExperimentRunsQuery" });

export const exampleWithRuns = example
  .extend({ runs: z.array(run.extend({ feedbacks: z.array(feedback) })) })
  .meta({ id: "ExampleWithRuns" });

export const experimentRunsBodyV2 = z
  .object({
    experiment_ids: z.array(uuid).min(1).max(50),
    example_ids: z.array(uuid).max(1000).nullish(),
    filters,
    comparative_experiment_id: notBuilt("comparative_experiment_id"),
    /** By the average score of one experiment: `feedback.KEY`. */
    sort: z.object({ by: sortBy, order: z.enum(["ASC", "DESC"]).default("DESC") }).nullish(),
    selects,
    cursor: cursor.pipe(
      z
        .string()
        .regex(/^\d{1,9}$/, "is not a valid cursor")
        .optional(),
    ),
    page_size: pageSize(20, 100),
  })
  .meta({ id: "ExperimentRunsQueryV2" });

export const experimentRunsPage = z.object({
  items: z.array(example.extend({ runs: z.array(runV2.partial()) })),
  next_cursor: z.string().optional(),
});
