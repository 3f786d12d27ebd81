import { z } from "zod";

import { isoTime, queryLimit, queryOffset, uuid } from "../../base/http/fields.ts";
import { repoPath, skipWebhooks } from "../prompts/schema.ts";

/** Tags are parts of identifiers, `name:tag`, and of paths. */
export const tagName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\s/:?#%\\\p{C}]+$/u, "must not contain white space, control characters or any of / : ? # % \\")
  .refine((name) => name !== "latest", "latest always names the latest commit");

export const tagPath = repoPath.extend({ tag_name: z.string().max(300) });

export const createBody = z.object({ tag_name: tagName, commit_id: uuid, skip_webhooks: skipWebhooks });
export const moveBody = z.object({ commit_id: uuid, skip_webhooks: skipWebhooks });

export const historyQuery = z.object({ limit: queryLimit(50, 100), offset: queryOffset });

export const movesQuery = z.object({
  start_time: isoTime.optional(),
  end_time: isoTime.optional(),
  limit: queryLimit(100, 1000),
});

export const tag = z
  .object({
    id: z.string(),
    repo_id: z.string(),
    commit_id: z.string(),
    commit_hash: z.string(),
    tag_name: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "PromptTag" });

export const history = z.object({
  total: z.int(),
  transitions: z.array(
    z.object({
      id: z.string(),
      repo_id: z.string(),
      tag_name: z.string(),
      from_commit_id: z.string().nullable(),
      from_commit_hash: z.string().nullable(),
      to_commit_id: z.string().nullable(),
      to_commit_hash: z.string().nullable(),
      performed_by: z.string().nullable(),
      performed_by_name: z.string().nullable(),
      created_at: z.string(),
    }),
  ),
});

export const moves = z.object({
  tag_moves: z.array(
    z.object({
      repo_handle: z.string(),
      owner: z.string().nullable(),
      tag_name: z.string(),
      from_commit_hash: z.string().nullable(),
      to_commit_hash: z.string().nullable(),
      changed_by: z.string().nullable(),
      changed_at: z.string(),
    }),
  ),
});
