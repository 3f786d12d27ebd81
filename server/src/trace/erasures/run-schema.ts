import { z } from "zod";

import { uuid } from "../../base/http/fields.ts";

/** Deletion of traces, as the LangSmith API has it. */

const trace_ids = z.array(uuid).min(1).max(10_000);

const dataset_copies = z
  .boolean()
  .nullish()
  .meta({ description: "Also delete the examples made of runs of these traces." });

export const deleteTracesBody = z.object({ session_id: uuid, trace_ids, dataset_copies });

export const deleteBody = z
  .object({
    session_id: uuid.nullish(),
    trace_ids: trace_ids.nullish(),
    /** Traces with a run that has all of these entries. */
    metadata: z.record(z.string(), z.string()).nullish(),
    dataset_copies,
  })
  .refine((body) => body.trace_ids || (body.metadata && Object.keys(body.metadata).length > 0), {
    path: ["trace_ids"],
    message: "trace ids or metadata are required",
  });
