import type { Principal } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { AppError, unprocessable } from "../../base/errors.ts";
import { appendCommit } from "../prompt-commits/commit-prompt.ts";
import { findCommit, findCommits } from "../prompt-commits/sql.ts";
import { readCommitName } from "../prompt-commits/find-commit.ts";
import { type PromptPath, writablePrompt } from "../prompts/find-prompt.ts";
import type { RepoType } from "../prompts/schema.ts";
import { findPrompt } from "../prompts/sql.ts";
import { changeFiles, type FileChanges, readFiles, writeFiles } from "./change-files.ts";
import type { Entry } from "./schema.ts";

/** @throws 400 when a repository is neither an agent nor a skill */
export function checkHasFiles({ owner, repo }: PromptPath, type: RepoType): void {
  if (type === "agent" || type === "skill") return;
  throw new AppError(
    400,
    `"${repo}" is a ${type} and has no files. Pull it by GET /api/v1/commits/${owner}/${repo}/latest.`,
  );
}

/**
 * Commits changes of the files of an agent or a skill of the caller's workspace.
 * @returns the commit as JSON, as the routes of commits return it. @throws 404, 403, 422; 409 when another commit came
 * after the parent, or nothing changed
 */
export async function commitDirectory(
  sql: Sql,
  principal: Principal,
  path: PromptPath,
  { changes, parent }: { changes: FileChanges; parent: string | null | undefined },
): Promise<string> {
  return (await sql.begin(async (tx) => {
    const repo = await writablePrompt(tx, principal, path);
    checkHasFiles(path, repo.repo_type);
    for (const [file, change] of changes) {
      if (change !== null && change.type !== "file") await checkLink(tx, principal, file, change);
    }
    return appendCommit(
      tx,
      principal,
      repo,
      (latest) => ({
        text: writeFiles(changeFiles(latest ? readFiles(latest.manifest) : new Map(), changes)),
        prompt: null,
      }),
      { parent, description: null, skipWebhooks: false },
    );
  })) as string;
}

type Link = Exclude<Entry, { type: "file" }>;

/** Checks that the caller can read what a link names. @throws 422 */
async function checkLink(
  tx: Transaction,
  { workspaceId }: Principal,
  file: string,
  { type, owner, repo_handle: handle, commit_id: id, commit_hash: hash }: Link,
): Promise<void> {
  const target = await findPrompt(tx, workspaceId, owner ?? "-", handle);
  if (target?.repo_type !== type) {
    throw unprocessable(`files.${file}: there is no ${type} "${owner ?? "-"}/${handle}" that could be linked`);
  }
  const byId = typeof id !== "string" || (await findCommit(tx, target.repo_id, id)) !== undefined;
  const byHash = typeof hash !== "string" || (await findCommits(tx, target.repo_id, readCommitName(hash))).length === 1;
  if (!byId || !byHash) throw unprocessable(`files.${file}: the ${type} "${handle}" has no such commit`);
}
