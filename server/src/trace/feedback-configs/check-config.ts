import { unprocessable } from "../../base/errors.ts";
import type { FeedbackConfig } from "./schema.ts";

/**
 * Validates feedback against the configuration sent with it or stored with its token: within bounds, or one of the
 * categories by value or label. The workspace's configuration of the key is descriptive and not enforced: feedback of
 * an evaluator must not be lost because the bounds were changed later.
 *
 * @throws 422
 */
export function checkConfig(
  config: FeedbackConfig,
  feedback: { key: string; score: number | null; value: unknown },
): void {
  const { score, value, key } = feedback;
  if (config.type === "continuous" && score !== null) {
    if (config.min != null && score < config.min) {
      throw unprocessable(`The score of "${key}" must be at least ${config.min}, not ${score}.`);
    }
    if (config.max != null && score > config.max) {
      throw unprocessable(`The score of "${key}" must be at most ${config.max}, not ${score}.`);
    }
  }
  if (config.type !== "categorical" || !config.categories) return;
  const values = config.categories.map((category) => category.value);
  const labels = config.categories.flatMap((category) => category.label ?? []);
  const unlabelled = config.categories.flatMap(({ value: each, label }) => (label == null ? String(each) : []));
  if (score !== null && !values.includes(score)) {
    throw unprocessable(`The score of "${key}" must be one of ${values.join(", ")}, not ${score}.`);
  }
  const isKnown = (one: unknown) =>
    typeof one === "number" ? values.includes(one) : [...labels, ...unlabelled].includes(one as string);
  const given = config.allows_multiple_categories && Array.isArray(value) ? (value as unknown[]) : [value];
  if (value !== null && labels.length > 0 && !given.every(isKnown)) {
    throw unprocessable(`The value of "${key}" must be one of ${labels.join(", ")}.`);
  }
}

/** Removes empty fields, so that equivalent configurations are equal. */
export function normalizeConfig(config: FeedbackConfig): FeedbackConfig {
  const { type, min, max, categories, allows_multiple_categories: several } = config;
  return {
    type,
    ...(min != null && { min }),
    ...(max != null && { max }),
    ...(categories && {
      categories: categories.map(({ value, label }) => ({ value, ...(label != null && { label }) })),
    }),
    ...(several && { allows_multiple_categories: true }),
  };
}
