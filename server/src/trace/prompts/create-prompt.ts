import type { Principal } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { conflict, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { selectWorkspace } from "../../identity/workspaces/sql.ts";
import { type PromptPath, readablePrompt } from "./find-prompt.ts";
import type { PromptCreate, PromptFork } from "./schema.ts";
import { copyCommits, insertPrompt, type NewPrompt, selectForkSource } from "./sql.ts";

/** Commits that a fork takes along. */
const FORKED_COMMITS = 1000;

/** Public prompts are found by their owner's handle. @throws 422 when the workspace has none */
export async function checkCanPublish(sql: Sql | Transaction, tenantId: string, isPublic: boolean): Promise<void> {
  if (!isPublic || (await selectWorkspace(sql, tenantId))?.tenant_handle) return;
  throw unprocessable(
    "is_public: the workspace has no handle, by which others would find the prompt. Set one by POST /api/v1/settings/handle.",
  );
}

/** @returns the id. @throws 409 when the workspace has a prompt of that name, 422 for a public one without a handle */
export async function createPrompt(sql: Sql, { workspaceId, actor }: Principal, prompt: PromptCreate): Promise<string> {
  await checkCanPublish(sql, workspaceId, prompt.is_public);
  return insert(sql, {
    repo_id: uuid7(),
    tenant_id: workspaceId,
    repo_handle: prompt.repo_handle,
    description: prompt.description ?? null,
    readme: prompt.readme ?? null,
    tags: prompt.tags ?? [],
    repo_type: prompt.repo_type,
    source: prompt.source ?? null,
    is_public: prompt.is_public,
    original_repo_id: null,
    upstream_repo_id: null,
    created_by: actor.name,
  });
}

/**
 * Copies a prompt that the caller may read into the caller's workspace, with its latest thousand commits and without
 * its tags. @returns the id. @throws 404, 409, 422 as `createPrompt`
 */
export async function forkPrompt(
  sql: Sql,
  principal: Principal,
  path: PromptPath,
  { repo_handle, description, readme, tags, is_public: isPublic }: PromptFork,
): Promise<string> {
  const { workspaceId, actor } = principal;
  await checkCanPublish(sql, workspaceId, isPublic === true);
  return (await sql.begin(async (tx) => {
    const { repo_id: from } = await readablePrompt(tx, principal, path);
    const upstream = await selectForkSource(tx, from);
    const fork: NewPrompt = {
      ...upstream,
      repo_id: uuid7(),
      tenant_id: workspaceId,
      repo_handle,
      description: description === undefined ? upstream.description : description,
      readme: readme === undefined ? upstream.readme : readme,
      tags: tags ?? upstream.tags,
      is_public: isPublic === true,
      original_repo_id: upstream.original_repo_id ?? from,
      upstream_repo_id: from,
      created_by: actor.name,
    };
    const id = await insert(tx, fork);
    await copyCommits(tx, from, fork, FORKED_COMMITS);
    return id;
  })) as string;
}

async function insert(sql: Sql | Transaction, prompt: NewPrompt): Promise<string> {
  if (await insertPrompt(sql, prompt)) return prompt.repo_id;
  throw conflict(`A prompt "${prompt.repo_handle}" already exists in this workspace.`);
}
