import { z } from "zod";

import { queryFlag, queryLimit, queryMany, queryOffset, storableText, uuid } from "../../base/http/fields.ts";

/** Names of prompts and of owners, as the official clients check them: they are parts of identifiers and paths. */
export const handle = z
  .string()
  .max(256)
  .regex(/^[a-z][a-z0-9_-]*$/, "must begin with a lower-case letter and consist of a-z, 0-9, - and _");

const MAX_DESCRIPTION = 4000;
const MAX_README = 100_000;
const label = storableText.min(1).max(100);
const labels = z.array(label).max(50);
const description = storableText.max(MAX_DESCRIPTION).nullish();
const readme = storableText.max(MAX_README).nullish();
const restricted = z.literal(false, '"restricted_mode" is not supported: permissions come from roles').nullish();

export const REPO_TYPES = ["prompt", "file", "agent", "skill"] as const;
export type RepoType = (typeof REPO_TYPES)[number];
const repoType = z.enum(REPO_TYPES);
const source = z.enum(["internal", "external"]);

export const createBody = z.object({
  repo_handle: handle,
  description,
  readme,
  is_public: z.boolean(),
  tags: labels.nullish(),
  repo_type: repoType.default("prompt"),
  source: source.nullish(),
  restricted_mode: restricted,
});
export type PromptCreate = z.output<typeof createBody>;

export const patchBody = z.strictObject({
  description,
  readme,
  tags: labels.nullish(),
  is_public: z.boolean().nullish(),
  is_archived: z.boolean().nullish(),
  restricted_mode: restricted,
});
export type PromptPatch = z.output<typeof patchBody>;

export const forkBody = z.object({
  repo_handle: handle,
  readme,
  description,
  tags: labels.nullish(),
  is_public: z.boolean().nullish(),
});
export type PromptFork = z.output<typeof forkBody>;

/** An owner is the handle of a workspace, or `-` for the caller's; unknown names of any form are 404. */
export const repoPath = z.object({ owner: z.string().max(300), repo: z.string().max(300) });

const text = storableText.max(300).optional();
const filters = {
  limit: queryLimit(20, 100),
  offset: queryOffset,
  tenant_handle: text,
  tenant_id: uuid.optional(),
  query: text,
  has_commits: z.enum(["true", "false"]).optional(),
  tags: queryMany(label, 50),
  is_archived: z.enum(["true", "allow", "false"]).optional(),
  is_public: z.enum(["true", "false"]).optional(),
  upstream_repo_owner: text,
  upstream_repo_handle: text,
  tag_value_id: queryMany(uuid, 100),
  repo_type: repoType.optional(),
  repo_types: queryMany(repoType, REPO_TYPES.length),
  source: source.optional(),
};
export const tagsQuery = z.object(filters);
export type PromptFilters = z.output<typeof tagsQuery>;

export const listQuery = z.object({
  ...filters,
  with_latest_manifest: queryFlag,
  sort_field: z.enum(["num_likes", "num_downloads", "num_views", "updated_at", "relevance"]).optional(),
  sort_direction: z.enum(["asc", "desc"]).optional(),
});
export type PromptSearch = z.output<typeof listQuery>;

export const deleteQuery = z.object({
  repo_ids: z.union([uuid, z.array(uuid).min(1).max(100)]).transform((ids) => [ids].flat()),
});

const manifest = z.record(z.string(), z.unknown());

export const prompt = z
  .object({
    id: z.string(),
    tenant_id: z.string(),
    repo_handle: z.string(),
    description: z.string().nullable(),
    readme: z.string().nullable(),
    tags: z.array(z.string()),
    repo_type: repoType,
    source: source.nullable(),
    is_public: z.boolean(),
    is_archived: z.boolean(),
    restricted_mode: z.boolean(),
    created_at: z.string(),
    updated_at: z.string(),
    created_by: z.string().nullable(),
    owner: z.string().nullable(),
    full_name: z.string(),
    original_repo_id: z.string().nullable(),
    original_repo_full_name: z.string().nullable(),
    upstream_repo_id: z.string().nullable(),
    upstream_repo_full_name: z.string().nullable(),
    /** Names of the tags of its commits. */
    commit_tags: z.array(z.string()),
    num_commits: z.int(),
    last_commit_hash: z.string().nullable(),
    num_likes: z.int(),
    num_downloads: z.int(),
    num_views: z.int(),
    liked_by_auth_user: z.boolean(),
    latest_commit_manifest: z.object({ commit_hash: z.string(), manifest, examples: z.null() }).nullable().optional(),
  })
  .meta({ id: "Prompt" });

export const promptAnswer = z.object({ repo: prompt });
export const promptList = z.object({ repos: z.array(prompt), total: z.int() });
export const tagCounts = z.object({ tags: z.array(z.object({ tag: z.string(), count: z.int() })) });
export const deletedMany = z.object({
  deleted: z.array(z.string()),
  failed: z.array(z.object({ id: z.string(), error: z.string() })),
});

/** Webhooks that a change is not reported to: all, or those with these ids. */
export const skipWebhooks = z.union([z.boolean(), z.array(uuid).max(1000)]).nullish();
export type SkipWebhooks = z.output<typeof skipWebhooks>;

export const message = z.object({ message: z.string() });
