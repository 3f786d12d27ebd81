import { z } from "zod";

import {
  isoTime,
  jsonObject,
  notBuilt,
  queryBoolean,
  queryLimit,
  queryMany,
  queryNotBuilt,
  queryOffset,
  storableText,
  uuid,
} from "../../base/http/fields.ts";
import { modelConfiguration } from "../models/message-schema.ts";
import { definition, LANGUAGES, MAX_CODE, scoreKey, subjectKind } from "./definition.ts";

const name = storableText.trim().min(1).max(255);
const description = storableText.max(4000).nullish();
const mapping = z.record(z.string(), storableText);

const promptMessages = z
  .array(
    z.union([
      z.object({ role: z.string(), content: storableText }),
      // LangChain's pairs
      z.tuple([z.string(), storableText]).transform(([role, content]) => ({ role, content })),
    ]),
  )
  .min(1)
  .max(50);

const fewShotCount = z.int().min(0).max(20).nullish();

/**
 * A judge: a prompt of the registry (`prompt_repo_handle`) or messages, and what to score. The first three fields are
 * the contract's, the others Heddle's.
 */
export const llmFields = z.object({
  prompt_repo_handle: z.string().min(1).max(512).nullish(),
  commit_hash_or_tag: z.string().min(1).max(256).nullish(),
  variable_mapping: mapping.nullish(),
  num_few_shot_examples: fewShotCount,
  use_corrections_dataset: z.boolean().nullish(),
  corrections_dataset_id: uuid.nullish(),
  prompt: promptMessages.nullish(),
  template_format: z.enum(["mustache", "f-string"]).nullish(),
  model: modelConfiguration.nullish(),
  scores: z.array(scoreKey).nullish(),
  /** JSON schema in place of `scores`. */
  schema: jsonObject.nullish(),
  reasoning: z.boolean().nullish(),
});
export type LlmFields = z.output<typeof llmFields>;

export const codeFields = z.object({
  code: storableText.min(1).max(MAX_CODE).nullish(),
  language: z.enum(LANGUAGES).nullish(),
});

const parts = {
  llm_evaluator: llmFields.nullish(),
  code_evaluator: codeFields.nullish(),
  subject: subjectKind.nullish(),
};

export const createBody = z
  .object({ name, description, type: z.enum(["llm", "code"]), ...parts })
  .meta({ id: "EvaluatorCreate" });
export type EvaluatorCreate = z.output<typeof createBody>;

/** Missing fields stay unchanged. A change of what the evaluator does is a new version. */
export const patchBody = z.object({ name: name.nullish(), description, ...parts }).meta({ id: "EvaluatorUpdate" });
export type EvaluatorPatch = z.output<typeof patchBody>;

const time = z.string();
const nullableText = z.string().nullable();

const runRule = z.object({
  id: z.guid(),
  display_name: z.string(),
  dataset_id: z.guid().nullable(),
  dataset_name: nullableText,
  session_id: z.guid().nullable(),
  session_name: nullableText,
  group_by: nullableText,
  corrections_dataset_id: z.guid().nullable(),
  num_few_shot_examples: z.int().nullable(),
  use_corrections_dataset: z.boolean().nullable(),
});

export const evaluator = z
  .object({
    id: z.guid(),
    tenant_id: z.guid(),
    name: z.string(),
    description: nullableText,
    type: z.enum(["llm", "code"]),
    subject: subjectKind,
    version: z.int(),
    feedback_keys: z.array(z.string()),
    library_id: nullableText,
    llm_evaluator: z
      .object({
        evaluator_id: z.guid(),
        prompt_id: z.guid().nullable(),
        prompt_repo_handle: nullableText,
        commit_hash_or_tag: nullableText,
        variable_mapping: mapping,
        annotation_queue_id: z.guid().nullable(),
        corrections_dataset_id: z.guid().nullable(),
        num_few_shot_examples: z.int().nullable(),
        use_corrections_dataset: z.boolean(),
      })
      .nullable(),
    code_evaluator: z.object({ evaluator_id: z.guid(), code: z.string(), language: z.enum(LANGUAGES) }).nullable(),
    definition,
    run_rules: z.array(runRule),
    spend_usd: z.number(),
    judgements: z.number(),
    errors: z.number(),
    created_by: nullableText,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Evaluator" });

const agreement = {
  items: z.int(),
  accuracy: z.number().nullable(),
  kappa: z.number().nullable(),
  mean_absolute_error: z.number().nullable(),
};
const summarized = z
  .object({ version: z.int(), items: z.int(), keys: z.array(z.object({ feedback_key: z.string(), ...agreement })) })
  .meta({ id: "EvaluatorAgreement" });

export const wrapped = z.object({ evaluator }).meta({ id: "EvaluatorAnswer" });
export const evaluators = z
  .object({
    /** `alignment`: with `include_alignment`, how far people agree with the newest version. */
    evaluators: z.array(evaluator.extend({ alignment: summarized.optional() })),
    total: z.int(),
  })
  .meta({ id: "Evaluators" });

/** Ids as the contract sends them: separated by commas, or repeated. */
const ids = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [value].flat().flatMap((text) => text.split(",").filter((each) => each !== "")))
  .pipe(z.array(uuid).max(100));

export const listQuery = z.object({
  type: z.enum(["llm", "code"]).optional(),
  name_contains: z.string().max(255).optional(),
  tag_value_id: queryMany(uuid, 100),
  feedback_key: z.string().max(255).optional(),
  resource_id: ids.optional(),
  sort_by: z.enum(["name", "type", "created_at", "updated_at", "spend_usd"]).default("created_at"),
  sort_by_desc: queryBoolean,
  /** Sums of spending begin here; default: all. */
  spend_from: isoTime.optional(),
  include_alignment: queryBoolean,
  limit: queryLimit(100, 100),
  offset: queryOffset,
});
export type EvaluatorSearch = z.output<typeof listQuery>;

/** Newest clients: `onlineEvaluators.spend`. */
export const spendQuery = z.object({
  period_start: z.iso.date(),
  group_by: z.literal("evaluator", 'only "evaluator" is supported').optional(),
  evaluator_id: uuid.optional(),
  session_id: queryNotBuilt("session_id"),
  dataset_id: queryNotBuilt("dataset_id"),
  agent_id: queryNotBuilt("agent_id"),
  tag_value_id: queryNotBuilt("tag_value_id"),
  type: z.enum(["llm", "code"]).optional(),
  feedback_key: z.string().max(255).optional(),
  resource_id: ids.optional(),
});
export type SpendQuery = z.output<typeof spendQuery>;
export const spending = z
  .object({
    groups: z.array(
      z.object({
        evaluator_id: z.guid(),
        evaluator_name: z.string(),
        days: z.array(z.object({ date: z.string(), spend_usd: z.number(), trace_count: z.number() })),
        total_spend_usd: z.number(),
        total_trace_count: z.number(),
        prev_total_spend_usd: z.number(),
        prev_total_trace_count: z.number(),
      }),
    ),
    period_start: z.string(),
    period_end: z.string(),
  })
  .meta({ id: "EvaluatorSpending" });

export const params = z.object({ evaluator_id: uuid });
export const deleteQuery = z.object({ delete_run_rules: queryBoolean });
export const deleteManyQuery = z.object({ evaluator_ids: ids, delete_run_rules: queryBoolean });
export const deletedMany = z.object({
  succeeded: z.array(z.string()),
  failed: z.array(z.object({ id: z.string(), error: z.string() })),
});

export const version = z
  .object({
    version: z.int(),
    definition,
    created_at: time,
    created_by: nullableText,
    judgements: z.number(),
    errors: z.number(),
    spend_usd: z.number(),
  })
  .meta({ id: "EvaluatorVersion" });
export const versions = z.object({ versions: z.array(version) });

/** Tries an evaluator, saved or not, on runs. Nothing is stored but the judge's own trace. */
export const tryBody = z
  .object({
    evaluator_id: uuid.nullish(),
    version: z.int().min(1).nullish(),
    name: name.nullish(),
    type: z.enum(["llm", "code"]).nullish(),
    ...parts,
    run_ids: z.array(uuid).min(1).max(20).nullish(),
    session_id: uuid.nullish(),
    filter: z.string().max(50_000).nullish(),
    limit: z.int().min(1).max(10).default(5),
    tree_filter: notBuilt("tree_filter"),
  })
  .meta({ id: "EvaluatorTry" });
export type TryBody = z.output<typeof tryBody>;

const score = z.object({
  key: z.string(),
  score: z.union([z.number(), z.boolean()]).nullable(),
  value: z.union([z.string(), z.number(), z.boolean()]).nullable(),
  comment: nullableText,
});

export const tried = z
  .object({
    results: z.array(
      z.object({
        run_id: z.guid(),
        other_run_id: z.guid().nullable(),
        run_name: z.string(),
        feedback: z.array(score),
        error: nullableText,
        retryable: z.boolean(),
        cost_usd: nullableText,
        judge_run_id: z.guid().nullable(),
        judge_project_id: z.guid().nullable(),
        messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
        values: z.record(z.string(), nullableText),
        logs: nullableText,
      }),
    ),
    cost_usd: nullableText,
  })
  .meta({ id: "EvaluatorTried" });

export const fromLibraryBody = z
  .object({
    library_id: z.string().max(100),
    name: name.nullish(),
    model: modelConfiguration.nullish(),
    variable_mapping: mapping.nullish(),
    language: z.enum(LANGUAGES).nullish(),
  })
  .meta({ id: "EvaluatorFromLibrary" });

export type FromLibrary = z.output<typeof fromLibraryBody>;

export const library = z
  .object({
    evaluators: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        description: z.string(),
        type: z.enum(["llm", "code"]),
        subject: subjectKind,
        feedback_keys: z.array(z.string()),
        labelled: z.int(),
        definition: definition.nullable(),
        code: z.object({ javascript: z.string(), python: z.string() }).nullable(),
      }),
    ),
  })
  .meta({ id: "EvaluatorLibrary" });

export const libraryParams = z.object({ library_id: z.string().max(100) });
export const checkBody = z.object({ model: modelConfiguration }).meta({ id: "EvaluatorCheck" });

const alignment = {
  ...agreement,
  confusion: z.object({ categories: z.array(z.string()), counts: z.array(z.array(z.int())) }).nullable(),
};
const anyScore = z.union([z.number(), z.boolean(), z.string()]);

export const checked = z
  .object({
    library_id: z.string(),
    name: z.string(),
    feedback_key: z.string(),
    ...alignment,
    errors: z.int(),
    cost_usd: nullableText,
    examples: z.array(
      z.object({
        values: z.record(z.string(), z.string()),
        label: anyScore,
        given: anyScore.nullable(),
        comment: nullableText,
        error: nullableText,
        cost_usd: nullableText,
        judge_run_id: z.guid().nullable(),
      }),
    ),
  })
  .meta({ id: "EvaluatorChecked" });

export const alignmentQuery = z.object({
  annotation_queue_id: uuid.optional(),
  dataset_id: uuid.optional(),
  session_id: uuid.optional(),
  feedback_key: z.string().max(255).optional(),
  version: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, "must be a version")
    .transform(Number)
    .optional(),
  limit: queryLimit(50, 200),
  offset: queryOffset,
});
export type AlignmentQuery = z.output<typeof alignmentQuery>;

const rating = z.object({ score: z.number().nullable(), value: z.unknown(), comment: nullableText });

export const aligned = z
  .object({
    evaluator_id: z.guid(),
    keys: z.array(
      z.object({
        feedback_key: z.string(),
        ...alignment,
        versions: z.array(z.object({ version: z.int(), ...alignment })),
      }),
    ),
    disagreements: z.object({
      total: z.int(),
      items: z.array(
        z.object({
          run_id: z.guid(),
          session_id: z.guid().nullable(),
          trace_id: z.guid().nullable(),
          start_time: time.nullable(),
          feedback_key: z.string(),
          version: z.int(),
          judge: rating.extend({ feedback_id: z.guid(), judge_run_id: nullableText }),
          person: rating.extend({ name: nullableText }),
          /** Whether the judgement itself was corrected. */
          is_corrected: z.boolean(),
        }),
      ),
    }),
    /** Whether only the newest judgements were compared. */
    truncated: z.boolean(),
  })
  .meta({ id: "EvaluatorAlignment" });

export const alignmentQueueBody = z
  .object({ name: name.nullish(), limit: z.int().min(1).max(500).default(50) })
  .meta({ id: "EvaluatorAlignmentQueue" });
export const alignmentQueue = z.object({ annotation_queue_id: z.guid(), added: z.int() });

export const experimentParams = z.object({ experiment_id: uuid });
export const evaluateExperimentBody = z
  .object({
    rule_id: uuid.nullish(),
    evaluator_ids: z.array(uuid).min(1).max(20).nullish(),
  })
  .refine(
    ({ rule_id, evaluator_ids }) => (rule_id == null) !== (evaluator_ids == null),
    "rule_id or evaluator_ids is required",
  )
  .meta({ id: "ExperimentEvaluate" });
export const evaluation = z
  .object({
    id: z.guid(),
    experiment_id: z.guid(),
    evaluator_id: z.guid(),
    evaluator_name: z.string(),
    version: z.int(),
    rule_id: z.guid().nullable(),
    status: z.enum(["pending", "running", "completed", "failed"]),
    total: z.number().nullable(),
    done: z.number(),
    errors: z.number(),
    cost_usd: z.string(),
    error: nullableText,
    created_at: time,
    ended_at: time.nullable(),
  })
  .meta({ id: "ExperimentEvaluation" });
export const evaluations = z.object({ evaluations: z.array(evaluation) });
