import { z } from "zod";

import { jsonObject, storableText, uuid } from "../../base/http/fields.ts";
import { onDuplicate, runMapping } from "../datasets/mapping-schema.ts";

const MAX_RUNS = 1000;

const split = z.union([z.array(storableText.min(1)).max(100), storableText.min(1)]).nullish();

export const fromRunsBody = z
  .object({
    run_ids: z.array(uuid).min(1).max(MAX_RUNS),
    /** Missing or null: the dataset's own, else the runs' inputs and outputs. */
    mapping: runMapping.nullish(),
    on_duplicate: onDuplicate.default("skip"),
    split,
    metadata: jsonObject.nullish(),
    /** Whether the dataset remembers the mapping. */
    remember_mapping: z.boolean().default(false),
    /** Maps and checks, and stores nothing. */
    dry_run: z.boolean().default(false),
  })
  .meta({ id: "ExamplesFromRuns" });

const fromRunResult = z
  .object({
    run_id: z.guid(),
    outcome: z.enum(["added", "replaced", "skipped", "failed"]),
    example_id: z.guid().nullable(),
    /** Why it was replaced or skipped. */
    duplicate_of: z.enum(["source_run", "inputs"]).nullable(),
    /** Paths of the mapping that the run does not have. */
    missing: z.array(z.string()),
    error: z.string().nullable(),
    /** Of a dry run: the example as it would be stored. */
    example: z.object({ inputs: jsonObject, outputs: jsonObject.nullable(), metadata: jsonObject }).nullable(),
  })
  .meta({ id: "ExampleFromRunResult" });

export const fromRunsAnswer = z
  .object({
    added: z.int(),
    replaced: z.int(),
    skipped: z.int(),
    failed: z.int(),
    results: z.array(fromRunResult),
  })
  .meta({ id: "ExamplesFromRunsAnswer" });

export const mappingBody = z.object({ mapping: runMapping.nullable() }).meta({ id: "DatasetRunMapping" });

export type FromRunsBody = z.output<typeof fromRunsBody>;
export type FromRunsAnswer = z.output<typeof fromRunsAnswer>;
