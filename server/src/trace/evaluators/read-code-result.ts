import type { Score } from "./schema.ts";

type Json = Record<string, unknown>;

const COMMENTS = ["comment", "reasoning", "explanation"];
const MAX_RESULTS = 50;
const MAX_KEY = 180;
const MAX_TEXT = 20_000;

/**
 * Reads what an evaluator's function returned, as LangSmith's code evaluators and those of `evaluate()` in the SDKs return
 * it: a number, a boolean, a text, `{key: score, …}`, `{key, score, value, comment}`, a list of those, or
 * `{results: […]}`. A score that is null is none.
 * @param name key of a bare score
 */
export function readCodeResult(result: unknown, name: string): { feedback: Score[] } | { problem: string } {
  const list = isObject(result) && Array.isArray(result["results"]) ? (result["results"] as unknown[]) : result;
  const items = Array.isArray(list) ? (list as unknown[]) : [list];
  if (items.length > MAX_RESULTS) return { problem: `returned more than ${MAX_RESULTS} results` };
  const feedback: Score[] = [];
  for (const item of items) {
    const read = readItem(item, name);
    if (typeof read === "string") return { problem: read };
    feedback.push(...read);
  }
  if (feedback.length === 0) return { problem: "returned no score" };
  if (feedback.length > MAX_RESULTS) return { problem: `returned more than ${MAX_RESULTS} scores` };
  const long = feedback.find(({ key }) => key.length === 0 || key.length > MAX_KEY || key.includes("\0"));
  if (long) return { problem: `returned a key that is empty or longer than ${MAX_KEY} characters` };
  const keys = feedback.map(({ key }) => key);
  const double = keys.find((key, i) => keys.indexOf(key) !== i);
  return double === undefined ? { feedback } : { problem: `returned the key "${double}" twice` };
}

const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const EXPECTED = "must return a number, a boolean, a text, {key: score} or {key, score, comment}";

function readItem(item: unknown, name: string): Score[] | string {
  if (["number", "boolean", "string"].includes(typeof item)) return toScores([[name, item]], null);
  if (!isObject(item)) return `${EXPECTED}, not ${item === null ? "null" : typeof item}`;
  const comment = COMMENTS.map((each) => item[each]).find((each) => typeof each === "string") as string | undefined;
  const text = comment === undefined ? null : clean(comment);
  if (typeof item["key"] === "string" || "score" in item || "value" in item) {
    const key = typeof item["key"] === "string" ? item["key"] : name;
    const { score, value } = item;
    const scores = score == null ? [{ key, score: null, value: null, comment: text }] : toScores([[key, score]], text);
    if (typeof scores === "string") return scores;
    // what does not apply has a null score, beside others that do
    if (value == null) return score == null && text === null ? [] : scores;
    if (!["string", "number", "boolean"].includes(typeof value)) return `returned a value that is ${typeof value}`;
    return [{ ...scores[0]!, value: typeof value === "string" ? clean(value) : (value as number | boolean) }];
  }
  return toScores(
    Object.entries(item).filter(([key]) => !COMMENTS.includes(key)),
    text,
  );
}

function toScores(entries: [string, unknown][], comment: string | null): Score[] | string {
  const scores: Score[] = [];
  for (const [key, value] of entries) {
    if (typeof value === "number" && Number.isFinite(value)) scores.push({ key, score: value, value: null, comment });
    else if (typeof value === "boolean") scores.push({ key, score: value, value: null, comment });
    else if (typeof value === "string") scores.push({ key, score: null, value: clean(value), comment });
    else if (value !== null) return `${EXPECTED}; the score of "${key.slice(0, 80)}" is ${typeof value}`;
  }
  return scores;
}

const clean = (text: string): string => text.replaceAll("\0", "").slice(0, MAX_TEXT);
