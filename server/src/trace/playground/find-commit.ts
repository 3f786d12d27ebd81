import type { Principal } from "../../base/auth/principal.ts";
import { forbidden } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { readCommit } from "../prompt-commits/find-commit.ts";
import type { CommitRef } from "./schema.ts";

/** Commit of a prompt, as traces name it. */
export interface FoundCommit {
  owner: string;
  repo: string;
  hash: string;
  manifest: unknown;
}

/** @throws 404 when the caller's workspace cannot read such a commit, 403 for a caller who may read none */
export async function findCommit(
  { sql }: Pick<TraceDeps, "sql">,
  principal: Principal,
  { owner, repo, commit }: CommitRef,
): Promise<FoundCommit> {
  if (!principal.permissions.has("prompts:read")) {
    throw forbidden("Forbidden: the permission prompts:read is required to run a prompt's commit.");
  }
  const options = { withModel: true, known: null };
  const found = await readCommit(sql, principal.workspaceId, { owner, repo }, commit, options);
  return { owner, repo, hash: found.commit_hash, manifest: JSON.parse(found.manifest!) as unknown };
}
