import { z } from "zod";

const path = z
  .string()
  .min(1)
  .max(1000)
  .regex(/^(inputs|outputs|metadata|tags|name|error|run_type|thread_id)(\.[^.]+)*$/, {
    message: "must begin with inputs, outputs, metadata, tags, name, error, run_type or thread_id",
  });
const paths = z
  .record(z.string().min(1).max(256), path)
  .refine((fields) => Object.keys(fields).length <= 100, "must have at most 100 fields");

/**
 * Fields of an example by their paths in the run: `{"inputs": {"question": "inputs.messages.0.content"}}`. Inputs or
 * outputs without a mapping are the run's.
 */
export const datasetMapping = z
  .object({ inputs: paths.nullish(), outputs: paths.nullish(), metadata: paths.nullish() })
  .strict();
export type DatasetMapping = z.output<typeof datasetMapping>;
