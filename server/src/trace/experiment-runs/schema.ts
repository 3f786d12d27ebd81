import { z } from "zod";

import { jsonObject, queryLimit, queryOffset, storableText, uuid } from "../../base/http/fields.ts";
import { MAX_TOOLS, modelConfiguration, tool } from "../models/message-schema.ts";
import { JOB_STATUSES, ROW_STATUSES } from "./status.ts";

/** Most rows of an experiment: examples times repetitions. */
export const MAX_ROWS = 100_000;
const MAX_EVALUATORS = 20;

const template = jsonObject;
/** Placeholders of templates over an example. */
export const EXAMPLE_ROOTS = ["inputs", "metadata", "example_id", "repetition"] as const;

const headers = z
  .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, "is not a header's name"), z.string().max(4096))
  .refine((record) => Object.keys(record).length <= 50, "at most 50 headers");

const promptTarget = z.object({
  type: z.literal("prompt"),
  prompt: z
    .object({
      owner: z.string().min(1).max(256).default("-"),
      repo: z.string().min(1).max(256),
      commit: z.string().min(1).max(256).default("latest"),
    })
    .nullish(),
  manifest: jsonObject.nullish(),
  model: modelConfiguration.nullish(),
  /** Variables of the prompt; default: the example's inputs. */
  variables: template.nullish(),
  tools: z.array(tool).max(MAX_TOOLS).nullish(),
  tool_choice: z.string().min(1).max(64).nullish(),
  response_schema: jsonObject.nullish(),
});

const url = z.string().min(1).max(2048);

const assistantTarget = z.object({
  type: z.literal("assistant"),
  url,
  assistant_id: z.string().min(1).max(256),
  /** Input of the graph; default: the example's inputs. */
  input: template.nullish(),
  /** Outputs of the run; default: the state at the end. */
  output: z.unknown().optional(),
  config: jsonObject.nullish(),
  context: jsonObject.nullish(),
  headers: headers.default({}),
});

const httpTarget = z.object({
  type: z.literal("http"),
  url,
  method: z.enum(["POST", "PUT"]).default("POST"),
  headers: headers.default({}),
  /** JSON body; default: the example's inputs. */
  body: z.unknown().optional(),
  output: z.unknown().optional(),
});

export const target = z.discriminatedUnion("type", [promptTarget, assistantTarget, httpTarget]).meta({
  id: "ExperimentTarget",
  description:
    "What is executed for each example. Texts may contain {{inputs.…}}, {{metadata.…}}, {{example_id}} and {{repetition}}; " +
    "output may contain {{output.…}}; headers may contain {{secrets.KEY}}.",
});
export type Target = z.output<typeof target>;
export type TargetOf<T extends Target["type"]> = Extract<Target, { type: T }>;

const evaluatorRef = z
  .object({
    evaluator_id: uuid.nullish(),
    name: z.string().min(1).max(1000).nullish(),
    version: z.int().min(1).nullish(),
  })
  .refine(({ evaluator_id: id, name }) => (id == null) !== (name == null), "needs either evaluator_id or name");

export const createBody = z
  .object({
    name: storableText.min(1).max(1000).nullish(),
    description: storableText.max(10_000).nullish(),
    metadata: jsonObject.nullish(),
    dataset_id: uuid.nullish(),
    dataset_name: storableText.min(1).max(1000).nullish(),
    as_of: z.string().min(1).max(256).nullish(),
    splits: z.array(storableText.max(256)).min(1).max(100).nullish(),
    example_metadata: jsonObject.nullish(),
    filter: z.string().max(10_000).nullish(),
    max_examples: z.int().min(1).max(MAX_ROWS).nullish(),
    target,
    evaluators: z.array(evaluatorRef).max(MAX_EVALUATORS).default([]),
    repetitions: z.int().min(1).max(100).default(1),
    concurrency: z.int().min(1).max(50).default(5),
    requests_per_second: z.number().min(0.01).max(1000).nullish(),
    timeout_seconds: z.int().min(1).max(3600).default(120),
    retries: z.int().min(0).max(10).default(2),
    /** Failures in a row after which the experiment stops; null: never. */
    stop_after_failures: z.int().min(1).max(MAX_ROWS).nullable().default(25),
  })
  .meta({ id: "ExperimentRunCreate" });
export type CreateBody = z.output<typeof createBody>;

/** What execution needs besides the target. */
export type JobOptions = Pick<
  CreateBody,
  "concurrency" | "requests_per_second" | "timeout_seconds" | "retries" | "stop_after_failures"
>;

export interface JobEvaluator {
  evaluator_id: string;
  version: number;
  name: string;
}

export const jobParams = z.object({ experiment_run_id: uuid });

export const listQuery = z.object({
  dataset: uuid.optional(),
  status: z.enum(JOB_STATUSES).optional(),
  name: z.string().max(1000).optional(),
  limit: queryLimit(20, 100),
  offset: queryOffset,
});
export type ListQuery = z.output<typeof listQuery>;

const score = z.object({ n: z.int(), mean: z.number().nullable() });

export const job = z
  .object({
    id: uuid.describe("Id of the experiment: of the project of its runs."),
    name: z.string(),
    url: z.string().describe("Page of the console."),
    description: z.string().nullable(),
    dataset_id: uuid,
    dataset_name: z.string().nullable(),
    dataset_as_of: z.string(),
    target: jsonObject,
    evaluators: z.array(z.object({ evaluator_id: uuid, version: z.int(), name: z.string() })),
    options: jsonObject,
    metadata: jsonObject,
    repetitions: z.int(),
    status: z.enum(JOB_STATUSES),
    reason: z.string().nullable(),
    created_at: z.string(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    progress: z.object({
      total: z.int(),
      done: z.int().describe("Rows that have ended, failed ones included."),
      failed: z.int(),
      running: z.int(),
      judge_failures: z.int(),
      seconds_left: z.number().nullable(),
    }),
    scores: z.record(z.string(), score),
    latency_ms: z.object({ p50: z.number().nullable(), p95: z.number().nullable(), p99: z.number().nullable() }),
    error_rate: z.number().nullable(),
    total_tokens: z.int(),
    cost_usd: z.string().nullable(),
    judge_cost_usd: z.string().nullable(),
  })
  .meta({ id: "ExperimentRun" });

export const jobList = z.object({ items: z.array(job.partial()), total: z.int() }).meta({ id: "ExperimentRunList" });

export const rowsQuery = z.object({
  status: z.enum([...ROW_STATUSES, "open"]).optional(),
  limit: queryLimit(50, 500),
  offset: queryOffset,
});
export type RowsQuery = z.output<typeof rowsQuery>;

export const jobRow = z
  .object({
    index: z.int(),
    example_id: uuid,
    repetition: z.int(),
    status: z.enum(ROW_STATUSES),
    run_id: uuid.nullable(),
    error: z.string().nullable(),
    judge_errors: z.array(z.object({ evaluator: z.string(), error: z.string() })).nullable(),
    scores: jsonObject.nullable(),
    latency_ms: z.int().nullable(),
    total_tokens: z.int().nullable(),
    cost_usd: z.string().nullable(),
    judge_cost_usd: z.string().nullable(),
    ended_at: z.string().nullable(),
  })
  .meta({ id: "ExperimentRunRow" });

export const retried = z.object({ retried: z.int() }).meta({ id: "ExperimentRunRetried" });
