import type { SourceArchive } from "../drivers/driver.ts";
import { findGitRemote } from "../integrations/git-remote.ts";
import type { BuildLog } from "../logs/log-writer.ts";
import { uploadFile } from "../uploads/receive-upload.ts";
import type { ClaimedRevision } from "./queue-sql.ts";
import type { WorkDeps } from "./work-deps.ts";

/**
 * Resolves the commit of a revision from a repository, once and for all: what the branch or tag names now, unless it
 * was resolved before. Null for other sources.
 */
export async function resolveCommit(
  deps: WorkDeps,
  claimed: ClaimedRevision,
  signal: AbortSignal,
): Promise<string | null> {
  if (claimed.source !== "github" || claimed.repo_commit_sha !== null) return null;
  const log = deps.logs.open({ deploymentId: claimed.deployment_id, revisionId: claimed.id, kind: "build" });
  try {
    const remote = await findGitRemote(deps, claimed.tenant_id, claimed.source_config);
    const sha = await deps.git.resolve(remote, claimed.repo_ref!, signal);
    log.write(`${claimed.repo_ref!} resolved to commit ${sha}.`);
    return sha;
  } catch (error) {
    if (!signal.aborted) log.write((error as Error).message, "ERROR");
    throw error;
  } finally {
    await log.flush();
  }
}

/** Provides the revision's project as an archive, which exists until `use` resolves; null when it has none. */
export async function withSource<Result>(
  deps: WorkDeps,
  claimed: ClaimedRevision,
  log: BuildLog,
  signal: AbortSignal,
  use: (archive: SourceArchive | null) => Promise<Result>,
): Promise<Result> {
  if (claimed.source === "github") {
    const remote = await findGitRemote(deps, claimed.tenant_id, claimed.source_config);
    const params = { id: claimed.id, remote, ref: claimed.repo_ref!, sha: claimed.repo_commit_sha!, log, signal };
    return deps.git.withArchive(params, (file) => use({ file, withLinks: true }));
  }
  const path = claimed.source_tarball_path;
  return use(path === null ? null : { file: uploadFile(deps.directory, path), withLinks: false });
}
