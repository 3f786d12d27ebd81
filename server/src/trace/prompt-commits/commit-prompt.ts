import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import type { Principal } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { conflict, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { isNestedDeeper } from "../../base/json-structure.ts";
import { type PromptPath, writablePrompt } from "../prompts/find-prompt.ts";
import { emitPromptEvent } from "../prompts/prompt-events.ts";
import type { SkipWebhooks } from "../prompts/schema.ts";
import type { PromptRow } from "../prompts/sql.ts";
import { promptText } from "./prompt-manifest.ts";
import { insertCommit, type LatestCommit, selectLatest } from "./sql.ts";

const MAX_DEPTH = 200;

export interface CommitFacts {
  /** Hash of the latest commit that the caller knows, or its beginning; absent: whichever it is. */
  parent: string | null | undefined;
  description: string | null | undefined;
  skipWebhooks: SkipWebhooks;
}

/**
 * Commits a manifest, the text of a JSON object, to a prompt of the caller's workspace. Commits of a prompt are serialized by its row, so that of
 * several on one parent exactly one succeeds.
 * @returns the commit as JSON. @throws 404, 403; 409 when another commit came after the parent, or nothing changed
 */
export async function commitPrompt(
  sql: Sql,
  principal: Principal,
  path: PromptPath,
  text: string,
  facts: CommitFacts,
): Promise<string> {
  if (isNestedDeeper(text, MAX_DEPTH)) throw unprocessable(`manifest: nested more than ${MAX_DEPTH} deep`);
  const prompt = promptText(text) ?? null;
  return (await sql.begin(async (tx) => {
    const row = await writablePrompt(tx, principal, path);
    if (row.repo_type === "agent" || row.repo_type === "skill") {
      throw unprocessable(
        `"${row.repo_handle}" is an ${row.repo_type}: commit its files by POST /v1/platform/hub/repos/${path.owner}/${path.repo}/directories/commits.`,
      );
    }
    return appendCommit(tx, principal, row, () => ({ text, prompt }), facts);
  })) as string;
}

/**
 * Appends a commit to a prompt whose row the transaction has locked, and emits its event.
 * @param write returns the manifest's text, a JSON object that is stored as it is, and that of the prompt in it, if it
 * has a model too; called when the parent is known to be the latest commit
 * @returns the commit as JSON. @throws 409
 */
export async function appendCommit(
  tx: Transaction,
  { actor }: Principal,
  prompt: PromptRow,
  write: (latest: LatestCommit | undefined) => { text: string; prompt: string | null },
  { parent, description, skipWebhooks }: CommitFacts,
): Promise<string> {
  const latest = prompt.last_commit_id === null ? undefined : await selectLatest(tx, prompt.last_commit_id);
  checkParent(latest, parent);
  const { text, prompt: promptManifest } = write(latest);
  const sha = createHash("sha256").update(text).digest();
  if (latest && isSame(latest, text, sha)) {
    throw conflict(`Nothing to commit: the manifest is that of the latest commit, ${latest.commit_hash}.`);
  }
  const commit = {
    commit_id: uuid7(),
    repo_id: prompt.repo_id,
    tenant_id: prompt.tenant_id,
    // the parent is part of the address: a commit that restores an older manifest is another one
    commit_hash: createHash("sha256")
      .update(`${latest?.commit_hash ?? ""}\n`)
      .update(text)
      .digest("hex"),
    created_by: actor.name,
  };
  const created = await insertCommit(tx, {
    ...commit,
    position: (latest?.position ?? 0) + 1,
    parent: latest,
    manifest: text,
    manifest_sha: sha,
    prompt_manifest: promptManifest,
    description: description ?? null,
  });
  await emitPromptEvent(tx, {
    event: "commit",
    ...commit,
    repo_handle: prompt.repo_handle,
    tag_name: null,
    skip_webhooks: skipWebhooks,
  });
  return created;
}

/** @throws 409 when the parent is not the latest commit, 422 when it is not a hash */
function checkParent(latest: LatestCommit | undefined, parent: string | null | undefined): void {
  if (parent === undefined || parent === null || parent === "" || parent === "latest") return;
  if (!/^[0-9a-f]{8,64}$/i.test(parent)) {
    throw unprocessable("parent_commit: must be a commit's hash, or at least its first 8 characters");
  }
  if (latest?.commit_hash.startsWith(parent.toLowerCase())) return;
  throw conflict(
    latest
      ? `The parent commit ${parent} is not the latest one, which is ${latest.commit_hash}. Pull it, and commit again with it as parent_commit.`
      : `The prompt has no commits, so ${parent} cannot be the parent. Leave out parent_commit.`,
  );
}

/** Whether two manifests have the same content; their texts may differ in white space and the order of names. */
const isSame = (latest: LatestCommit, text: string, sha: Buffer): boolean =>
  latest.manifest_sha.equals(sha) || isDeepStrictEqual(JSON.parse(latest.manifest), JSON.parse(text));
