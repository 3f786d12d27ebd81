import { RE2JS } from "re2js";
import { z } from "zod";

import { DETECTORS } from "../../../../host-kit/src/masking/detectors.ts";
import { DEFAULT_FIELDS, MASKED_FIELDS } from "../../../../host-kit/src/masking/read-masking.ts";
import { storableText, uuid } from "../../base/http/fields.ts";

export const MAX_RULES = 100;
const MAX_PREVIEW = 65_536;

const pattern = storableText
  .min(1)
  // compiling a longer one takes seconds
  .max(1000, { abort: true })
  .superRefine((text, context) => {
    try {
      RE2JS.compile(text);
    } catch (error) {
      const message = `is no pattern of RE2's syntax: ${(error as Error).message.slice(0, 200)}`;
      context.addIssue({ code: "custom", message });
    }
  });

const fields = {
  name: storableText.trim().min(1).max(200),
  project_id: uuid.nullable(),
  is_enabled: z.boolean(),
  fields: z.array(z.enum(MASKED_FIELDS)).min(1).max(MASKED_FIELDS.length),
  path: storableText.max(500).regex(/^(?:[^.]+(?:\.[^.]+)*)?$/, "must be names separated by dots, * for any"),
  detectors: z.array(z.enum(DETECTORS)).max(DETECTORS.length),
  pattern: pattern.nullable(),
  replacement: storableText.max(200).nullable(),
};

/** What a rule masks, without its name and place. */
const masked = {
  fields: fields.fields.default([...DEFAULT_FIELDS]),
  path: fields.path.default(""),
  detectors: fields.detectors.default([]),
  pattern: fields.pattern.default(null),
  replacement: fields.replacement.default(null),
};

export const createBody = z
  .object({
    name: fields.name,
    project_id: fields.project_id.default(null),
    is_enabled: fields.is_enabled.default(true),
    ...masked,
  })
  .meta({ id: "MaskingRuleCreate" });

/** Missing fields stay unchanged. */
export const patchBody = z.object(fields).partial().meta({ id: "MaskingRuleUpdate" });

export const previewBody = z
  .object({
    /** Their fields are left aside: the value is that of any field. */
    rules: z.array(z.object(masked)).min(1).max(MAX_RULES),
    value: z
      .unknown()
      .refine(
        (value) => JSON.stringify(value ?? null).length <= MAX_PREVIEW,
        `must have at most ${MAX_PREVIEW} characters`,
      ),
  })
  .meta({ id: "MaskingPreview" });

export const previewAnswer = z.object({
  value: z.unknown(),
  /** Replacements by rule, in their order. */
  replaced: z.array(z.int()),
});

export const ruleParams = z.object({ rule_id: uuid });

const time = z.iso.datetime({ offset: true });

export const maskingRule = z
  .object({
    id: z.guid(),
    ...fields,
    project_id: z.guid().nullable(),
    pattern: z.string().nullable(),
    created_at: time,
    updated_at: time,
    /** Of the last 30 days. */
    masked_runs: z.int(),
    masked_values: z.int(),
  })
  .meta({ id: "MaskingRule" });

export type CreateBody = z.output<typeof createBody>;
export type PatchBody = z.output<typeof patchBody>;
export type MaskedPart = Pick<CreateBody, "fields" | "path" | "detectors" | "pattern" | "replacement">;
