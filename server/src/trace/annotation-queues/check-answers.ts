import { unprocessable } from "../../base/errors.ts";
import { withinTime } from "../../base/within-time.ts";
import { checkConfig } from "../feedback-configs/check-config.ts";
import type { FeedbackConfig } from "../feedback-configs/schema.ts";
import type { ReviewAnswer } from "./review-schema.ts";
import type { Condition, RubricItem } from "./rubric-schema.ts";

/** Time limit in milliseconds for the patterns of a review; a pattern may never terminate. */
const TIME_LIMIT_MS = 200;

/**
 * Checks the answers of a review against the queue's rubric: required and visible fields, patterns, and the keys'
 * configurations. Keys that are not in the rubric are free.
 *
 * @throws 422 naming the key
 */
export function checkAnswers(
  rubric: readonly RubricItem[],
  configs: ReadonlyMap<string, { config: FeedbackConfig }>,
  answers: readonly ReviewAnswer[],
): void {
  const given = new Map(answers.map((answer) => [answer.feedback_key, answer]));
  if (given.size < answers.length) throw unprocessable("answers: a feedback_key occurs twice.");
  const visible = visibleKeys(rubric, given);
  const isGiven = (key: string) => visible.has(key) && !isEmpty(given.get(key));
  for (const item of rubric) {
    const { feedback_key: key } = item;
    if (!visible.has(key)) {
      if (!isEmpty(given.get(key))) throw unprocessable(`"${key}" is hidden by the other answers; leave it out.`);
      continue;
    }
    const isRequired =
      item.is_required === true || (item.required_if != null && holds(item.required_if, given, visible));
    if (isRequired && !isGiven(key)) throw unprocessable(`"${key}" is required.`);
    const answer = given.get(key);
    if (!answer || isEmpty(answer)) continue;
    const config = configs.get(key)?.config;
    if (config && answer.preferred === undefined)
      checkConfig(config, { key, score: answer.score, value: answer.value });
    if (item.regex_validator != null && typeof answer.value === "string")
      checkPattern(item.regex_validator, key, answer.value);
  }
}

function checkPattern(pattern: string, key: string, value: string): void {
  const matches = withinTime(TIME_LIMIT_MS, () => new RegExp(pattern, "u").test(value));
  if (matches === undefined) throw unprocessable(`The pattern of "${key}" takes too long. Simplify regex_validator.`);
  if (!matches) throw unprocessable(`"${key}" must match ${pattern}.`);
}

/** Returns the keys of the visible items. A hidden item counts as empty in the conditions of others. */
function visibleKeys(rubric: readonly RubricItem[], given: ReadonlyMap<string, ReviewAnswer>): Set<string> {
  const items = new Map(rubric.map((item) => [item.feedback_key, item]));
  const known = new Map<string, boolean>();
  const isVisible = (key: string): boolean => {
    const before = known.get(key);
    if (before !== undefined) return before;
    // stored rubrics have no loops; a key that is being looked at counts as hidden
    known.set(key, false);
    const condition = items.get(key)?.visible_if;
    const result = condition == null || meets(condition, (other) => (isVisible(other) ? given.get(other) : undefined));
    known.set(key, result);
    return result;
  };
  return new Set([...items.keys()].filter(isVisible));
}

const holds = (condition: Condition, given: ReadonlyMap<string, ReviewAnswer>, visible: ReadonlySet<string>): boolean =>
  meets(condition, (key) => (visible.has(key) ? given.get(key) : undefined));

function meets({ join, rules }: Condition, answerTo: (key: string) => ReviewAnswer | undefined): boolean {
  const results = rules.map(({ key, op, values }) => {
    const answer = answerTo(key);
    if (op === "is_empty") return isEmpty(answer);
    if (op === "is_not_empty") return !isEmpty(answer);
    return scores(answer).some((score) => values?.includes(score));
  });
  return join === "all" ? results.every(Boolean) : results.some(Boolean);
}

const scores = (answer: ReviewAnswer | undefined): number[] => {
  if (!answer) return [];
  if (answer.score !== null) return [answer.score];
  return [answer.value].flat().filter((value) => typeof value === "number");
};

const isEmpty = (answer: ReviewAnswer | undefined): boolean =>
  !answer ||
  (answer.preferred === undefined &&
    answer.score === null &&
    (answer.value === null || answer.value === "" || (Array.isArray(answer.value) && answer.value.length === 0)));
