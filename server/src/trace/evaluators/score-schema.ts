import { type ScoreKey, scoreKey } from "./definition.ts";
import type { Score } from "./schema.ts";

type Json = Record<string, unknown>;

const PROPERTY = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
const REASONINGS = new Set(["reasoning", "comment", "explanation", "rationale", "reason", "thoughts"]);
const MAX_COMMENT = 20_000;

/** Name of a key in the model's answer: providers restrict the names of properties. */
const property = ({ key }: ScoreKey, i: number): string =>
  PROPERTY.test(key) && !REASONINGS.has(key) ? key : `score_${i + 1}`;

/**
 * Builds the JSON schema of a judge's answer. The reasoning comes first, so that the score follows from it. Bounds are in
 * the description and checked here, because some providers reject `minimum`.
 */
export function answerSchema(scores: readonly ScoreKey[], withReasoning: boolean): Json {
  const properties: Json = {};
  if (withReasoning) {
    properties["reasoning"] = {
      type: "string",
      description: "Think step by step about the material before you score it.",
    };
  }
  for (const [i, score] of scores.entries()) properties[property(score, i)] = scoreProperty(score);
  return {
    title: "judgement",
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function scoreProperty({ key, type, description, min, max, choices }: ScoreKey): Json {
  const text = description === "" ? key : description;
  if (type === "boolean") return { type: "boolean", description: text };
  if (type === "number") {
    const range = [min != null && `at least ${min}`, max != null && `at most ${max}`].filter(Boolean).join(" and ");
    return { type: "number", description: range === "" ? text : `${text} The number is ${range}.` };
  }
  const lines = choices!.flatMap(({ label, description: what }) => (what ? [`${label}: ${what}`] : []));
  return { type: "string", enum: choices!.map(({ label }) => label), description: [text, ...lines].join("\n") };
}

/** Reads a judge's answer. `problem` says what does not match the schema. */
export function readAnswer(
  scores: readonly ScoreKey[],
  answer: unknown,
): { feedback: Score[]; problem: null } | { feedback: null; problem: string } {
  if (answer === null || typeof answer !== "object" || Array.isArray(answer)) {
    return { feedback: null, problem: "The answer is not a JSON object." };
  }
  const given = answer as Json;
  const reasoning = Object.entries(given).find(([name, value]) => REASONINGS.has(name) && typeof value === "string");
  const comment = reasoning ? (reasoning[1] as string).replaceAll("\0", "").slice(0, MAX_COMMENT) : null;
  const feedback: Score[] = [];
  for (const [i, score] of scores.entries()) {
    const name = property(score, i);
    const read = readScore(score, given[name]);
    if (typeof read === "string") return { feedback: null, problem: `${name}: ${read}` };
    feedback.push({ key: score.key, ...read, comment });
  }
  return { feedback, problem: null };
}

function readScore(key: ScoreKey, value: unknown): Pick<Score, "score" | "value"> | string {
  if (key.type === "boolean")
    return typeof value === "boolean" ? { score: value, value: null } : "must be true or false";
  if (key.type === "number") {
    if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
    if (key.min != null && value < key.min) return `must be at least ${key.min}, not ${value}`;
    if (key.max != null && value > key.max) return `must be at most ${key.max}, not ${value}`;
    return { score: value, value: null };
  }
  const choice = key.choices!.find(({ label }) => label === value);
  if (!choice) return `must be one of ${key.choices!.map(({ label }) => label).join(", ")}`;
  return { score: choice.score ?? null, value: choice.label };
}

/** Reads the keys of a JSON schema, as prompts of the registry have it. `problem` names a property that is no score. */
export function readSchema(schema: unknown): { scores: ScoreKey[]; reasoning: boolean } | { problem: string } {
  const properties = (schema as { properties?: unknown } | null)?.properties;
  if (properties === null || typeof properties !== "object") return { problem: "has no properties" };
  const scores: ScoreKey[] = [];
  let reasoning = false;
  for (const [name, value] of Object.entries(properties as Json)) {
    const property = (value ?? {}) as Json;
    const { type, description } = property;
    const choices = Array.isArray(property["enum"]) ? property["enum"] : undefined;
    const base = { key: name, ...(typeof description === "string" && { description }) };
    if (type === "string" && !choices) {
      if (!REASONINGS.has(name)) return { problem: `properties.${name}: must be a number, a boolean or have an enum` };
      reasoning = true;
      continue;
    }
    const read = scoreKey.safeParse(
      choices
        ? {
            ...base,
            type: "category",
            choices: choices.map((label) => ({
              label: String(label),
              ...(typeof label === "number" && { score: label }),
            })),
          }
        : type === "boolean"
          ? { ...base, type }
          : { ...base, type: "number", min: property["minimum"], max: property["maximum"] },
    );
    if (!read.success || (!choices && !["boolean", "number", "integer"].includes(type as string))) {
      return { problem: `properties.${name}: must be a number, a boolean or have an enum` };
    }
    scores.push(read.data);
  }
  return scores.length > 0
    ? { scores, reasoning }
    : { problem: "has no property that is a number, a boolean or an enum" };
}
