import type { Principal } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { type AppError, conflict, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { type CommitRef, findCommit } from "../prompt-commits/sql.ts";
import { type PromptPath, writablePrompt } from "../prompts/find-prompt.ts";
import { emitPromptEvent } from "../prompts/prompt-events.ts";
import type { SkipWebhooks } from "../prompts/schema.ts";
import type { PromptRow } from "../prompts/sql.ts";
import { countTags, deleteTag, findTag, insertMove, readTag, upsertTag } from "./sql.ts";

const MAX_TAGS = 200;

export const tagNotFound = ({ repo }: PromptPath, name: string): AppError =>
  notFound(`Prompt "${repo}" has no tag "${name}".`);

interface TagChange {
  tagName: string;
  commitId: string;
  skipWebhooks: SkipWebhooks;
}

/**
 * Creates a tag (`create`), or moves an existing one (`move`), back to an earlier commit too. The change is kept in the
 * tag's history; a move to the commit that it is on changes nothing.
 * @returns the tag as JSON. @throws 404 without the prompt, the commit or the tag, 403, 409 for a tag that exists
 */
export async function moveTag(
  sql: Sql,
  principal: Principal,
  path: PromptPath,
  mode: "create" | "move",
  { tagName, commitId, skipWebhooks }: TagChange,
): Promise<string> {
  return (await sql.begin(async (tx) => {
    const prompt = await writablePrompt(tx, principal, path);
    const before = await findTag(tx, prompt.repo_id, tagName);
    if (mode === "move" && !before) throw tagNotFound(path, tagName);
    if (mode === "create" && before && before.commit_id !== commitId) {
      throw conflict(
        `The tag "${tagName}" exists, on commit ${before.commit_hash}. Move it by PATCH /api/v1/repos/${path.owner}/${path.repo}/tags/${tagName}.`,
      );
    }
    const commit = await findCommit(tx, prompt.repo_id, commitId);
    if (!commit) throw notFound(`Prompt "${path.repo}" has no commit with the id ${commitId}.`);
    if (before?.commit_id !== commitId) {
      if (!before && (await countTags(tx, prompt.repo_id)) >= MAX_TAGS) {
        throw unprocessable(`tag_name: a prompt has at most ${MAX_TAGS} tags`);
      }
      const { repo_id, tenant_id, repo_handle } = prompt;
      await upsertTag(tx, { tag_id: uuid7(), repo_id, tag_name: tagName, commit_id: commitId });
      await recordMove(tx, principal, prompt, tagName, { from: before, to: commit });
      await emitPromptEvent(tx, {
        event: before ? "tag:update" : "tag:create",
        tenant_id,
        repo_id,
        repo_handle,
        ...commit,
        tag_name: tagName,
        created_by: principal.actor.name,
        skip_webhooks: skipWebhooks,
      });
    }
    return (await readTag(tx, prompt.repo_id, tagName))!;
  })) as string;
}

/** Deletes a tag; its history stays. @throws 404, 403 */
export async function removeTag(sql: Sql, principal: Principal, path: PromptPath, tagName: string): Promise<void> {
  await sql.begin(async (tx) => {
    const prompt = await writablePrompt(tx, principal, path);
    const before = await findTag(tx, prompt.repo_id, tagName);
    if (!before) throw tagNotFound(path, tagName);
    await deleteTag(tx, prompt.repo_id, tagName);
    await recordMove(tx, principal, prompt, tagName, { from: before, to: undefined });
  });
}

const recordMove = (
  tx: Transaction,
  { actor }: Principal,
  { tenant_id, repo_id }: PromptRow,
  tag_name: string,
  ends: { from: CommitRef | undefined; to: CommitRef | undefined },
): Promise<unknown> =>
  insertMove(tx, {
    move_id: uuid7(),
    tenant_id,
    repo_id,
    tag_name,
    ...ends,
    performed_by: (actor.userId ?? actor.id) || null,
    performed_by_name: actor.name,
  });
