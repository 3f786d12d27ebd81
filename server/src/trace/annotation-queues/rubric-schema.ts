import { z } from "zod";

import { storableText, uuid } from "../../base/http/fields.ts";
import { configRecord } from "../feedback-configs/schema.ts";
import { feedbackKey } from "../feedback-configs/schema.ts";

const MAX_RUBRIC_ITEMS = 50;

const text = storableText.max(20_000);
const descriptions = z
  .record(storableText.max(512), storableText.max(2000))
  .refine((entries) => Object.keys(entries).length <= 100, "must have at most 100 entries");

/** A condition on the answer to another key. `is` has one value, `is_one_of` at least one, the others none. */
const rule = z
  .object({
    key: feedbackKey,
    op: z.enum(["is", "is_one_of", "is_empty", "is_not_empty"]),
    values: z.array(z.number()).max(100).nullish(),
  })
  .superRefine(({ op, values }, context) => {
    const count = values?.length ?? 0;
    if (op === "is" && count !== 1) context.addIssue('"is" needs exactly one of values');
    if (op === "is_one_of" && count === 0) context.addIssue('"is_one_of" needs values');
    if ((op === "is_empty" || op === "is_not_empty") && count > 0) context.addIssue(`"${op}" takes no values`);
  });

const condition = z
  .object({ join: z.enum(["all", "any"]), rules: z.array(rule).min(1).max(20) })
  .meta({ id: "AnnotationQueueRubricCondition" });

const pattern = storableText
  .min(1)
  .max(500)
  .refine((source) => {
    try {
      new RegExp(source, "u");
      return true;
    } catch {
      return false;
    }
  }, "must be a regular expression of ECMAScript");

const fields = {
  feedback_key: feedbackKey,
  description: text.nullish(),
  value_descriptions: descriptions.nullish(),
  score_descriptions: descriptions.nullish(),
  is_required: z.boolean().nullish(),
  is_assertion: z.boolean().nullish(),
  /** Hidden unless this holds. */
  visible_if: condition.nullish(),
  /** Required if this holds, while it is visible. */
  required_if: condition.nullish(),
  /** Of a text: it must match, anywhere in it. */
  regex_validator: pattern.nullish(),
  /** The key's configuration. */
  feedback_config_id: uuid.nullish(),
};

const rubricItem = z.object(fields).meta({ id: "AnnotationQueueRubricItemInput" });

/** As returned: with the configuration of its key, if that has one. */
export const storedRubricItem = z
  .object({ ...fields, feedback_config: configRecord.nullish() })
  .meta({ id: "AnnotationQueueRubricItem" });

export type RubricItem = z.output<typeof rubricItem>;
export type Condition = z.output<typeof condition>;

export const rubricItems = z
  .array(rubricItem)
  .max(MAX_RUBRIC_ITEMS)
  .superRefine((items, context) => {
    const byKey = new Map(items.map((item) => [item.feedback_key, item]));
    if (byKey.size < items.length) context.addIssue("must not name a feedback_key twice");
    for (const { feedback_key: key, visible_if: visible, required_if: required } of items) {
      for (const { key: other } of [...(visible?.rules ?? []), ...(required?.rules ?? [])]) {
        if (other === key) context.addIssue(`a condition of "${key}" refers to "${key}" itself`);
        else if (!byKey.has(other)) context.addIssue(`a condition of "${key}" refers to "${other}", which is no item`);
      }
    }
    const loop = findLoop(byKey);
    if (loop !== undefined) context.addIssue(`visible_if of "${loop}" depends on itself`);
  });

/** Returns a key whose visibility depends on itself. */
function findLoop(items: ReadonlyMap<string, RubricItem>): string | undefined {
  const settled = new Set<string>();
  const visit = (key: string, path: ReadonlySet<string>): string | undefined => {
    if (path.has(key)) return key;
    if (settled.has(key)) return undefined;
    const further = new Set([...path, key]);
    for (const { key: other } of items.get(key)?.visible_if?.rules ?? []) {
      const found = visit(other, further);
      if (found !== undefined) return found;
    }
    settled.add(key);
    return undefined;
  };
  for (const key of items.keys()) {
    const found = visit(key, new Set());
    if (found !== undefined) return found;
  }
  return undefined;
}
