import { z } from "zod";

import { jsonObject, storableText, uuid } from "../../base/http/fields.ts";
import {
  content,
  MAX_MESSAGES,
  MAX_TOOLS,
  message,
  modelConfiguration,
  role,
  tool,
  toolCall,
} from "../models/message-schema.ts";
import { TEMPLATE_FORMATS } from "./render-template.ts";

/** Project of the runs of the playground. */
export const DEFAULT_PROJECT = "playground";
const MAX_TIMEOUT_SECONDS = 600;
export const DEFAULT_TIMEOUT_SECONDS = 120;

const templateMessage = z.object({
  role,
  content,
  tool_calls: z.array(toolCall).max(MAX_TOOLS).optional(),
  tool_call_id: z.string().max(256).optional(),
  name: z.string().max(256).optional(),
});
const placeholder = z.object({
  role: z.literal("placeholder"),
  variable: z.string().min(1).max(128),
  optional: z.boolean().default(false),
});

const commit = z.object({
  owner: z.string().min(1).max(256).default("-"),
  repo: z.string().min(1).max(256),
  commit: z.string().min(1).max(256).default("latest"),
});

/** Prompt as messages, as a manifest, or as a commit; a commit beside one of the others is only recorded. */
const prompt = {
  messages: z
    .array(z.union([placeholder, templateMessage]))
    .min(1)
    .max(MAX_MESSAGES)
    .optional(),
  manifest: jsonObject.optional(),
  commit: commit.optional(),
  template_format: z.enum([...TEMPLATE_FORMATS, "jinja2"]).default("none"),
  variables: jsonObject.default({}),
};

export const renderBody = z.object(prompt).meta({ id: "PlaygroundRender" });

export const streamBody = z
  .object({
    ...prompt,
    tools: z.array(tool).max(MAX_TOOLS).default([]),
    tool_choice: z.string().min(1).max(64).nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    response_schema: jsonObject.nullish(),
    model: modelConfiguration.optional(),
    project: storableText.min(1).max(256).default(DEFAULT_PROJECT),
    run_name: storableText.min(1).max(256).default("playground"),
    tags: z.array(storableText.max(256)).max(50).default([]),
    metadata: jsonObject.default({}),
    reference_example_id: uuid.nullish(),
    source_run_id: uuid.nullish(),
    timeout_seconds: z.int().min(1).max(MAX_TIMEOUT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS),
  })
  .meta({ id: "PlaygroundStream" });

export const rendered = z
  .object({
    messages: z.array(message).nullable(),
    variables: z.array(z.string()),
    missing: z.array(z.string()),
    notes: z.array(z.string()),
  })
  .meta({ id: "PlaygroundRendered" });

const usage = z.object({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() });
const cost = z.object({ prompt: z.string(), completion: z.string(), total: z.string() });

export const runParams = z.object({ run_id: uuid });

export const opened = z
  .object({
    run_id: z.guid(),
    project_id: z.guid(),
    project_name: z.string().nullable(),
    run_name: z.string(),
    messages: z.array(message),
    template_format: z.literal("none"),
    tools: z.array(tool),
    tool_choice: z.string().nullable(),
    response_schema: jsonObject.nullable(),
    model: z.object({
      provider: z.string().nullable(),
      connection_id: z.guid().nullable(),
      model: z.string().nullable(),
      parameters: jsonObject,
    }),
    provider_known: z.boolean(),
    commit: z.object({ owner: z.string(), repo: z.string(), commit_hash: z.string() }).nullable(),
    output: z.object({ message }).nullable(),
    error: z.string().nullable(),
    usage: usage.nullable(),
    cost: cost.nullable(),
    latency_ms: z.number().nullable(),
    notes: z.array(z.string()),
  })
  .meta({ id: "PlaygroundRun" });

export type PromptBody = z.output<typeof renderBody>;
export type StreamBody = z.output<typeof streamBody>;
export type CommitRef = z.output<typeof commit>;
