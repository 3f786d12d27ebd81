import { notFound } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import type { CommitRef } from "./schema.ts";

/** Commit of a prompt, as traces name it. */
export interface FoundCommit {
  owner: string;
  repo: string;
  hash: string;
  manifest: unknown;
}

/** @throws 404 when the caller's workspace cannot read such a commit */
export function findCommit(
  _deps: Pick<TraceDeps, "sql">,
  _tenantId: string,
  { owner, repo, commit }: CommitRef,
): Promise<FoundCommit> {
  throw notFound(`Prompt ${owner}/${repo}:${commit} not found`);
}
