import type { FeedbackConfig, Queue } from "./queries.ts";

/** A feedback key of a review form, and how it is answered by keys. */
export interface RubricField {
  key: string;
  description: string | null;
  isRequired: boolean;
  kind: "thumbs" | "category" | "number" | "text" | "pair";
  /** Answers by the digit that gives them. */
  choices: Choice[];
  visibleIf?: Condition | undefined;
  requiredIf?: Condition | undefined;
  /** Regular expression that a text must match. The server checks it. */
  pattern?: string | undefined;
}

type RubricItem = NonNullable<Queue["rubric_items"]>[number];
export type Condition = NonNullable<RubricItem["visible_if"]>;

export interface Choice {
  digit: string;
  label: string;
  answer: Answer;
}

export interface Answer {
  score: number | null;
  value: string | null;
  /** Of a pair of runs. */
  preferred?: "a" | "b" | "tie";
}

export type Answers = Readonly<Record<string, Answer>>;

export const THUMBS: Choice[] = [
  { digit: "1", label: "Good", answer: { score: 1, value: null } },
  { digit: "0", label: "Bad", answer: { score: 0, value: null } },
];

/** Of the runs of a pair as they are shown, the left one first. */
export const PAIR: Choice[] = [
  { digit: "1", label: "Left is better", answer: { score: null, value: null, preferred: "a" } },
  { digit: "2", label: "Right is better", answer: { score: null, value: null, preferred: "b" } },
  { digit: "0", label: "Tie", answer: { score: null, value: null, preferred: "tie" } },
];

/** Key of a judgement of pairs where no rubric names one. */
const BETTER = "better";

/** Key of feedback where no rubric names one; that of the thumbs elsewhere in the console. */
export const USER_SCORE = "user_score";
const DEFAULT_FIELD: RubricField = {
  key: USER_SCORE,
  description: null,
  isRequired: false,
  kind: "thumbs",
  choices: THUMBS,
};

/** Returns the fields of a queue's rubric; thumbs when it has none, or the choice between two runs. */
export function rubricFields(
  items: Queue["rubric_items"],
  configs: readonly Pick<FeedbackConfig, "feedback_key" | "feedback_config">[],
  isPairwise = false,
): RubricField[] {
  if (!items || items.length === 0) {
    return [isPairwise ? { ...DEFAULT_FIELD, key: BETTER, kind: "pair", choices: PAIR } : DEFAULT_FIELD];
  }
  return items.map(({ feedback_key: key, description, is_required: isRequired, ...texts }) => {
    const config = configs.find(({ feedback_key: known }) => known === key)?.feedback_config;
    const shared = {
      key,
      description: description ?? null,
      isRequired: isRequired === true,
      visibleIf: texts.visible_if ?? undefined,
      requiredIf: texts.required_if ?? undefined,
      pattern: texts.regex_validator ?? undefined,
    };
    if (isPairwise) return { ...shared, kind: "pair", choices: PAIR };
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

/** Returns the fields that the conditions on other answers leave visible. A hidden field counts as empty. */
export function visibleFields(fields: readonly RubricField[], answers: Answers): RubricField[] {
  const byKey = new Map(fields.map((field) => [field.key, field]));
  const isVisible = (key: string, path: readonly string[]): boolean => {
    const condition = byKey.get(key)?.visibleIf;
    if (!condition || path.includes(key)) return !condition;
    return meets(condition, (other) => (isVisible(other, [...path, key]) ? answers[other] : undefined));
  };
  return fields.filter((field) => isVisible(field.key, []));
}

function meets({ join, rules }: Condition, answerTo: (key: string) => Answer | undefined): boolean {
  const results = rules.map(({ key, op, values }) => {
    const answer = answerTo(key);
    const isEmpty = !answer || (answer.score === null && !answer.value && !answer.preferred);
    if (op === "is_empty") return isEmpty;
    if (op === "is_not_empty") return !isEmpty;
    return typeof answer?.score === "number" && (values ?? []).includes(answer.score);
  });
  return join === "all" ? results.every(Boolean) : results.some(Boolean);
}

/** Whether a visible field must be answered, given the other answers. */
export const isRequired = (field: RubricField, visible: readonly RubricField[], answers: Answers): boolean =>
  field.isRequired ||
  (field.requiredIf !== undefined &&
    meets(field.requiredIf, (key) => (visible.some((each) => each.key === key) ? answers[key] : undefined)));

/** Returns the required fields without an answer, of those that are visible. */
export const missingFields = (visible: readonly RubricField[], answers: Answers): string[] =>
  visible.filter((field) => isRequired(field, visible, answers) && !answers[field.key]).map(({ key }) => key);
