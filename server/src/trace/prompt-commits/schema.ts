import { z } from "zod";

import { queryFalse, queryLimit, queryOffset, storableText } from "../../base/http/fields.ts";
import { repoPath, skipWebhooks } from "../prompts/schema.ts";

/** Most bytes of a commit's request. */
export const MAX_COMMIT_BYTES = 10 * 1024 * 1024;

export const commitPath = repoPath.extend({ commit: z.string().max(300) });

export const commitBody = z.object({
  manifest: z.record(z.string(), z.unknown()),
  parent_commit: storableText.max(64).nullish(),
  description: storableText.max(1000).nullish(),
  skip_webhooks: skipWebhooks,
});

export const listQuery = z.object({
  limit: queryLimit(20, 100),
  offset: queryOffset,
  tag: storableText.max(300).optional(),
  include_stats: z.string().optional(),
});

const OPTIONAL = ["model", "is_draft"];

export const readQuery = z.object({
  include: z
    .string()
    .optional()
    .transform((text) => new Set((text ?? "").split(",").filter(Boolean)))
    .refine((names) => [...names].every((name) => OPTIONAL.includes(name)), `knows only ${OPTIONAL.join(" and ")}`),
  include_model: z
    .string()
    .optional()
    .transform((text) => /^(true|1|yes)$/i.test(text ?? "")),
  get_examples: queryFalse("get_examples", "commits have no example runs"),
  is_view: queryFalse("is_view", "views are not counted"),
});

export const commit = z
  .object({
    id: z.string(),
    repo_id: z.string(),
    commit_hash: z.string(),
    parent_id: z.string().nullable(),
    parent_commit_hash: z.string().nullable(),
    /** SHA-256 of the manifest's text, as a list of 32 bytes. */
    manifest_sha: z.array(z.int()),
    description: z.string().nullable(),
    full_name: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    example_run_ids: z.array(z.string()),
    num_downloads: z.int(),
    num_views: z.int(),
  })
  .meta({ id: "PromptCommit" });

export const commitList = z.object({ commits: z.array(commit), total: z.int() });
export const created = z.object({ commit });

const object = z.record(z.string(), z.unknown());

export const pulled = z
  .object({
    commit_hash: z.string(),
    manifest: object,
    examples: z.array(z.unknown()),
    description: z.string().nullable(),
    is_draft: z.boolean().optional(),
    model_provider: z.string().nullable().optional(),
    model_config: object.nullable().optional(),
  })
  .meta({ id: "PulledPrompt" });
