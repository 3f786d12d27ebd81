import type { FeedbackConfig, Queue } from "./queries.ts";

/** A feedback key of a review form, and how it is answered by keys. */
export interface RubricField {
  key: string;
  description: string | null;
  isRequired: boolean;
  kind: "thumbs" | "category" | "number" | "text";
  /** Answers by the digit that gives them. */
  choices: Choice[];
}

export interface Choice {
  digit: string;
  label: string;
  answer: Answer;
}

export interface Answer {
  score: number | null;
  value: string | null;
}

export type Answers = Readonly<Record<string, Answer>>;

export const THUMBS: Choice[] = [
  { digit: "1", label: "Good", answer: { score: 1, value: null } },
  { digit: "0", label: "Bad", answer: { score: 0, value: null } },
];

/** Key of feedback where no rubric names one; that of the thumbs elsewhere in the console. */
export const USER_SCORE = "user_score";
const DEFAULT_FIELD: RubricField = {
  key: USER_SCORE,
  description: null,
  isRequired: false,
  kind: "thumbs",
  choices: THUMBS,
};

/** Returns the fields of a queue's rubric; thumbs when it has none. */
export function rubricFields(
  items: Queue["rubric_items"],
  configs: readonly Pick<FeedbackConfig, "feedback_key" | "feedback_config">[],
): RubricField[] {
  if (!items || items.length === 0) return [DEFAULT_FIELD];
  return items.map(({ feedback_key: key, description, is_required: isRequired, ...texts }) => {
    const config = configs.find(({ feedback_key: known }) => known === key)?.feedback_config;
    const shared = { key, description: description ?? null, isRequired: isRequired === true };
    if (config?.type === "freeform") return { ...shared, kind: "text", choices: [] };
    if (config?.type === "categorical") {
      const choices = (config.categories ?? []).map(({ value, label }, index) => {
        const name = label ?? String(value);
        const text = texts.value_descriptions?.[name] ?? texts.score_descriptions?.[String(value)];
        // ten categories have digits; the others are clicked
        const digit = index < 9 ? String(index + 1) : index === 9 ? "0" : "";
        return { digit, label: text ? `${name}: ${text}` : name, answer: { score: value, value: name } };
      });
      return { ...shared, kind: "category", choices };
    }
    const [min, max] = [config?.min ?? 0, config?.max ?? 1];
    if (min === 0 && max === 1) return { ...shared, kind: "thumbs", choices: THUMBS };
    return { ...shared, kind: "number", choices: wholeNumbers(min, max, texts.score_descriptions ?? {}) };
  });
}

/** Returns the whole numbers of a range that a digit can give. */
function wholeNumbers(min: number, max: number, descriptions: Record<string, string>): Choice[] {
  const choices: Choice[] = [];
  for (let score = Math.max(0, Math.ceil(min)); score <= Math.min(9, max); score++) {
    const text = descriptions[String(score)];
    const label = text ? `${score}: ${text}` : String(score);
    choices.push({ digit: String(score), label, answer: { score, value: null } });
  }
  return choices;
}

/** Returns the first field without an answer after this one, or before it; the field itself when all have one. */
export function nextField(fields: readonly RubricField[], answers: Answers, active: number): number {
  for (let step = 1; step <= fields.length; step++) {
    const index = (active + step) % fields.length;
    if (!answers[fields[index]!.key]) return index;
  }
  return active;
}

/** Returns the required fields without an answer. */
export const missingFields = (fields: readonly RubricField[], answers: Answers): string[] =>
  fields.filter(({ key, isRequired }) => isRequired && !answers[key]).map(({ key }) => key);
