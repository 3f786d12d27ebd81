import { z } from "zod";

import { storableText, uuid } from "../../base/http/fields.ts";
import { feedbackKey } from "../feedback-configs/schema.ts";
import { modelConfiguration } from "../models/message-schema.ts";

/** What an evaluator does: the content of a version. */

export const SUBJECTS = ["run", "trace", "thread", "pair"] as const;
export const subjectKind = z.enum(SUBJECTS);
export type SubjectKind = z.output<typeof subjectKind>;

export const LANGUAGES = ["javascript", "python"] as const;

const MAX_KEYS = 20;
const MAX_CHOICES = 50;
const MAX_VARIABLES = 50;
const MAX_PROMPT = 100_000;
export const MAX_CODE = 200_000;

/** A judged quality. `category` answers one of the choices, whose score is optional. */
export const scoreKey = z
  .object({
    key: feedbackKey,
    type: z.enum(["number", "boolean", "category"]),
    description: storableText.max(4000).default(""),
    min: z.number().nullish(),
    max: z.number().nullish(),
    choices: z
      .array(
        z.object({
          label: storableText.trim().min(1).max(200),
          score: z.number().nullish(),
          description: storableText.max(1000).nullish(),
        }),
      )
      .min(2)
      .max(MAX_CHOICES)
      .nullish(),
  })
  .refine(({ type, choices }) => (type === "category") === (choices != null), "choices: required for categories only")
  .refine(({ min, max }) => min == null || max == null || min < max, "min: must be less than max")
  .refine(
    ({ choices }) => !choices || new Set(choices.map(({ label }) => label)).size === choices.length,
    "choices: labels must differ",
  )
  .meta({ id: "EvaluatorScore" });
export type ScoreKey = z.output<typeof scoreKey>;

const inlinePrompt = z.object({
  messages: z
    .array(z.object({ role: z.enum(["system", "user", "assistant"]), content: storableText.max(MAX_PROMPT) }))
    .min(1)
    .max(50),
  template_format: z.enum(["mustache", "f-string"]).default("mustache"),
});

/** Prompt of the registry, by the hash of a commit or a tag; a tag is resolved at each judgement. */
const registryPrompt = z.object({
  owner: z.string().min(1).max(256).default("-"),
  repo: z.string().min(1).max(256),
  commit: z.string().min(1).max(256).default("latest"),
});

const llmDefinition = z
  .object({
    type: z.literal("llm"),
    subject: subjectKind.default("run"),
    prompt: z.union([inlinePrompt, registryPrompt]),
    /** Null: the model that the prompt of the registry binds. */
    model: modelConfiguration.nullable().default(null),
    /** Path in the subject by variable of the prompt (read-path.ts). Missing: by the variable's name. */
    variable_mapping: z
      .record(z.string().min(1).max(128), storableText.min(1).max(1000))
      .refine((mapping) => Object.keys(mapping).length <= MAX_VARIABLES, `at most ${MAX_VARIABLES} variables`)
      .default({}),
    /** Null: the schema of the prompt of the registry. */
    scores: z
      .array(scoreKey)
      .min(1)
      .max(MAX_KEYS)
      .refine((keys) => new Set(keys.map(({ key }) => key)).size === keys.length, "keys must differ")
      .nullable()
      .default(null),
    /** Whether the judge explains itself before it scores. */
    reasoning: z.boolean().default(true),
    /** Examples in the prompt, newest first: judgements that people corrected, or examples of a dataset. */
    few_shot: z
      .object({ dataset_id: uuid.nullable().default(null), count: z.int().min(1).max(20) })
      .nullable()
      .default(null),
  })
  .meta({ id: "LlmEvaluatorDefinition" });
export type LlmDefinition = z.output<typeof llmDefinition>;

const codeDefinition = z
  .object({
    type: z.literal("code"),
    subject: subjectKind.default("run"),
    language: z.enum(LANGUAGES).default("python"),
    code: storableText.min(1).max(MAX_CODE),
  })
  .meta({ id: "CodeEvaluatorDefinition" });
export type CodeDefinition = z.output<typeof codeDefinition>;

export const definition = z.discriminatedUnion("type", [llmDefinition, codeDefinition]);
export type Definition = z.output<typeof definition>;
