import { type SourceArchive } from "../drivers/driver.ts";
import { gitPlaceOf } from "../integrations/git-place.ts";
import type { BuildLog } from "../logs/log-writer.ts";
import { uploadFile } from "../uploads/receive-upload.ts";
import type { ClaimedRevision } from "./queue-sql.ts";
import type { WorkDeps } from "./work-deps.ts";

/**
 * The commit that a revision of a repository is made of, once and for all: what the branch or tag names now, unless
 * that is known. Null for other sources.
 */
export async function resolveCommit(
  deps: WorkDeps,
  held: ClaimedRevision,
  signal: AbortSignal,
): Promise<string | null> {
  if (held.source !== "github" || held.repo_commit_sha !== null) return null;
  const log = deps.logs.open({ deploymentId: held.deployment_id, revisionId: held.id, kind: "build" });
  try {
    const place = await gitPlaceOf(deps, held.tenant_id, held.source_config);
    const sha = await deps.git.resolve(place, held.repo_ref!, signal);
    log.write(`${held.repo_ref!} is at commit ${sha}.`);
    return sha;
  } catch (error) {
    if (!signal.aborted) log.write((error as Error).message, "ERROR");
    throw error;
  } finally {
    await log.flush();
  }
}

/** Hands the revision's project over as an archive, which is there until `use` resolves; null where it has none. */
export async function withSource(
  deps: WorkDeps,
  held: ClaimedRevision,
  log: BuildLog,
  signal: AbortSignal,
  use: (archive: SourceArchive | null) => Promise<void>,
): Promise<void> {
  if (held.source === "github") {
    const place = await gitPlaceOf(deps, held.tenant_id, held.source_config);
    const order = { id: held.id, place, ref: held.repo_ref!, sha: held.repo_commit_sha!, log, signal };
    return deps.git.withArchive(order, (file) => use({ file, withLinks: true }));
  }
  const path = held.source_tarball_path;
  return use(path === null ? null : { file: uploadFile(deps.directory, path), withLinks: false });
}
