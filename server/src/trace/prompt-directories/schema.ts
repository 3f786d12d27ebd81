import { z } from "zod";

import { uuid } from "../../base/http/fields.ts";
import { REPO_TYPES } from "../prompts/schema.ts";

export const MAX_FILES = 1000;
export const MAX_DIRECTORY_BYTES = 10 * 1024 * 1024;
const MAX_PATH = 1024;

const file = z.strictObject({ type: z.literal("file"), content: z.string() });
const link = z.strictObject({
  type: z.enum(["agent", "skill"]),
  repo_handle: z.string().max(256),
  owner: z.string().max(256).nullish(),
  commit_id: uuid.nullish(),
  commit_hash: z
    .string()
    .regex(/^[0-9a-f]{8,64}$/i, "must be a commit's hash, or at least its first 8 characters")
    .nullish(),
});
export const entry = z.discriminatedUnion("type", [file, link]);
export type Entry = z.output<typeof entry>;

/**
 * Relative path of a file in a directory: it must stay below any place where a client writes it. The segments of
 * `a/b.md` are `a` and `b.md`.
 */
export const filePath = z
  .string()
  .min(1)
  .max(MAX_PATH)
  .refine(
    (path) =>
      !/[\\:\p{C}]/u.test(path) && path.split("/").every((part) => part !== "" && part !== "." && part !== ".."),
    "must be a relative path without empty segments, . and .., without backslashes, colons and control characters",
  );

/** Values are checked one by one, from the body's text: a record of zod drops the name `__proto__`. */
export const commitBody = z.object({
  files: z.record(z.string(), z.unknown()),
  parent_commit: z.string().min(8).max(64).nullish(),
});

export const directoryQuery = z.object({
  commit: z.string().max(300).optional(),
  repo_type: z.enum(REPO_TYPES).optional(),
});

export const directory = z
  .object({ commit_id: z.string(), commit_hash: z.string(), files: z.record(z.string(), entry) })
  .meta({ id: "PromptDirectory" });

export const created = z.object({
  commit: z.object({ id: z.string(), commit_hash: z.string(), created_at: z.string() }),
});
