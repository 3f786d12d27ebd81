import type { Queue } from "./queries.ts";
import type { Condition } from "./rubric.ts";

type RubricItem = NonNullable<Queue["rubric_items"]>[number];

/** What the form edits of a key besides its name: one rule of each condition, and a pattern. */
export interface KeyDetails {
  shownKey: string | null;
  /** Comma-separated scores; empty: any answer. */
  shownScores: string;
  pattern: string;
}

export type Details = Readonly<Record<string, KeyDetails>>;

export const NO_DETAILS: KeyDetails = { shownKey: null, shownScores: "", pattern: "" };

export const readDetails = (items: Queue["rubric_items"] | undefined): Details =>
  Object.fromEntries(
    (items ?? []).map((item) => {
      const [rule] = item.visible_if?.rules ?? [];
      return [
        item.feedback_key,
        {
          shownKey: rule?.key ?? null,
          shownScores: (rule?.values ?? []).join(", "),
          pattern: item.regex_validator ?? "",
        },
      ];
    }),
  );

/**
 * Returns the fields of a rubric item. A condition that the form cannot show (several rules, other operators) stays as
 * long as its first rule is not edited.
 */
export function writeDetails(
  key: string,
  details: KeyDetails | undefined,
  before: Partial<RubricItem>,
  keys: readonly string[],
): Pick<RubricItem, "visible_if" | "regex_validator"> {
  const { shownKey, shownScores, pattern } = details ?? NO_DETAILS;
  const was = readDetails([{ ...before, feedback_key: key }])[key]!;
  const isSame = was.shownKey === shownKey && was.shownScores === shownScores;
  const isKnown = shownKey !== null && shownKey !== key && keys.includes(shownKey);
  return {
    visible_if: isSame ? (before.visible_if ?? null) : isKnown ? condition(shownKey, shownScores) : null,
    regex_validator: pattern === "" ? null : pattern,
  };
}

function condition(key: string, scores: string): Condition {
  const values = scores
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map(Number)
    .filter(Number.isFinite);
  return {
    join: "all",
    rules: [values.length === 0 ? { key, op: "is_not_empty" } : { key, op: "is_one_of", values }],
  };
}
