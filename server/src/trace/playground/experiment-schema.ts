import { z } from "zod";

import { jsonObject, notBuilt, storableText, uuid } from "../../base/http/fields.ts";
import { secretValue } from "../workspace-secrets/schema.ts";
import { MAX_TOOLS, modelConfiguration, tool } from "../models/message-schema.ts";

/** Most calls of an experiment: examples times repetitions. */
export const MAX_RUNS = 5000;
/** Most calls whose results are one answer. */
export const MAX_BATCH_RUNS = 200;
export const MAX_CONCURRENCY = 20;

const empty = (name: string) => z.object({}, `"${name}" is not supported; leave it out`).strict();

/** LangChain's RunnableConfig, as far as it applies to calls of a model. */
const options = z.object({
  tags: z.array(storableText.max(256)).max(50).nullish(),
  metadata: jsonObject.nullish(),
  run_name: storableText.min(1).max(256).nullish(),
  max_concurrency: z.int().min(1).max(MAX_CONCURRENCY).nullish(),
  // only graphs recurse
  recursion_limit: z.int().nullish(),
  callbacks: z.array(z.never(), '"callbacks" is not supported; leave it out').nullish(),
  configurable: empty("configurable").nullish(),
  run_id: notBuilt("run_id"),
});

const fields = {
  manifest: jsonObject.nullish(),
  secrets: z.record(z.string().max(128), secretValue).default({}),
  run_id: notBuilt("run_id"),
  repo_id: notBuilt("repo_id", "name the prompt by owner, repo_handle and commit"),
  tools: z.array(tool).max(MAX_TOOLS).nullish(),
  tool_choice: z.string().min(1).max(64).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  options: options.default({}),
  project_name: storableText.min(1).max(1000),
  repo_handle: z.string().min(1).max(256).nullish(),
  owner: z.string().min(1).max(256).nullish(),
  commit: z.string().min(1).max(256).nullish(),
  evaluator_rules: z.array(z.never(), '"evaluator_rules" is not supported: Heddle runs no evaluators').nullish(),
  requests_per_second: z.int().min(1).max(1000).nullish(),
  use_or_fallback_to_workspace_secrets: z.boolean().default(false),
  runner_context: z.enum(["langsmith_ui", "langsmith_align_evals"]).nullish(),
  dataset_id: uuid,
  dataset_splits: z.array(z.string().max(256)).max(100).nullish(),
  repetitions: z.int().min(1).max(30).default(1),
  metadata: jsonObject.nullish(),
  /** Ours: the first examples only. */
  max_examples: z.int().min(1).max(MAX_RUNS).nullish(),
  /** Ours: the model, where the manifest binds none, or another one. */
  model: modelConfiguration.nullish(),
  /** Ours: structured output. */
  response_schema: jsonObject.nullish(),
};

export const experimentBody = z.object(fields).meta({ id: "PlaygroundRunOverDatasetRequestSchema" });

export const batchBody = z
  .object({ ...fields, batch_size: z.int().min(1).max(100).nullish() })
  .meta({ id: "PlaygroundRunOverDatasetBatchRequestSchema" });

export type ExperimentBody = z.output<typeof experimentBody>;

const result = z.object({
  index: z.int(),
  example_id: z.guid(),
  repetition: z.int(),
  run_id: z.guid().nullable(),
  message: jsonObject.nullable(),
  structured: z.unknown(),
  error: jsonObject.nullable(),
  usage: jsonObject.nullable(),
  cost: jsonObject.nullable(),
  latency_ms: z.int().nullable(),
});

export const batchResult = z
  .object({
    session_id: z.guid(),
    project_name: z.string(),
    dataset_id: z.guid(),
    results: z.array(result),
    runs: z.int(),
    errors: z.int(),
    stopped: z.string().nullable(),
    total_tokens: z.int(),
    total_cost: z.string().nullable(),
  })
  .meta({ id: "PlaygroundExperiment" });

/** Renders messages `[role, template]` (contract: InvokePromptPayload). */
export const invokeBody = z
  .object({
    messages: z
      .array(z.tuple([z.string().max(64), z.string().max(1024 * 1024)]))
      .min(1)
      .max(500),
    template_format: z.string().max(32),
    inputs: jsonObject,
  })
  .meta({ id: "InvokePromptPayload" });

export const invoked = z
  .object({ messages: z.array(z.object({ type: z.string(), content: z.unknown() })) })
  .meta({ id: "InvokedPrompt" });
