import { z } from "zod";

import { limit, notBuilt, offset, uuid } from "../../base/http/fields.ts";
import { feedback } from "../feedback/schema.ts";
import { run } from "../runs/query-schema.ts";
import { example } from "./example-schema.ts";

export const experimentRunsBody = z
  .object({
    session_ids: z.array(uuid).min(1).max(50),
    example_ids: z.array(uuid).max(1000).nullish(),
    /** Filter expressions by experiment: only examples that have a run that passes all of them. */
    filters: z.record(uuid, z.array(z.string().max(65_536)).max(20)).nullish(),
    comparative_experiment_id: uuid.nullish(),
    /** Beginnings of inputs and outputs instead of all of them. */
    preview: z.boolean().default(false),
    limit: limit(20, 100),
    offset,
    sort_params: notBuilt("sort_params"),
    include_annotator_detail: z.literal(false, "is not supported yet; leave it out").nullish(),
  })
  .meta({ id: "ExperimentRunsQuery" });

export const exampleWithRuns = example
  .extend({ runs: z.array(run.extend({ feedbacks: z.array(feedback) })) })
  .meta({ id: "ExampleWithRuns" });

export type ExperimentRunsQuery = z.output<typeof experimentRunsBody>;
