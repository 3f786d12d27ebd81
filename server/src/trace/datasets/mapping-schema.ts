import { z } from "zod";

import { storableText } from "../../base/http/fields.ts";
import { parsePath } from "./run-path.ts";

/** Fields of a mapping, and characters of a path. */
const MAX_FIELDS = 100;

const path = storableText
  .min(1)
  .max(500)
  .superRefine((text, context) => {
    const problem = parsePath(text);
    if (typeof problem === "string") context.addIssue(problem);
  });

const fields = z
  .record(storableText.min(1).max(200), path)
  .refine((given) => Object.keys(given).length <= MAX_FIELDS, `must have at most ${MAX_FIELDS} fields`);

/** One path: the whole value (an object, else it is wrapped as `input` or `output`). A record: field by field. */
const part = z.union([path, fields]).nullish();

/**
 * Where the fields of an example come from, by paths in the run: `inputs.messages[-1].content`, `outputs`,
 * `metadata.user`. A part that is missing: the run's inputs, the run's outputs, no metadata.
 */
export const runMapping = z
  .object({ inputs: part, outputs: part, metadata: fields.nullish() })
  .meta({ id: "RunMapping" });

export type RunMapping = z.output<typeof runMapping>;
export type MappedPart = z.output<typeof part>;

export const transformationTypes = [
  "convert_to_openai_message",
  "convert_to_openai_tool",
  "remove_system_messages",
  "remove_extra_fields",
  "extract_tools_from_run",
] as const;

export const transformation = z
  .object({
    path: z.array(storableText.max(200)).min(1).max(20),
    transformation_type: z.enum(transformationTypes),
  })
  .refine(({ path: [first] }) => first === "inputs" || first === "outputs", "path must begin with inputs or outputs")
  .meta({ id: "DatasetTransformation" });

export type Transformation = z.output<typeof transformation>;

export const onDuplicate = z.enum(["skip", "replace", "add"]);
export type OnDuplicate = z.output<typeof onDuplicate>;
