import type { Deployment, Revision } from "./queries.ts";

/** Returns the status to show: a revision that was deployed and is no longer active is "superseded", without colour. */
export const shownStatus = (
  deployment: Pick<Deployment, "active_revision_id">,
  revision: Pick<Revision, "id" | "status">,
): string =>
  revision.status === "DEPLOYED" &&
  deployment.active_revision_id !== null &&
  revision.id !== deployment.active_revision_id
    ? "superseded"
    : revision.status;

type Sourced = Pick<Revision, "source" | "source_revision_config">;

const short = (text: string | null | undefined): string => {
  if (text == null || text === "") return "none";
  return /^[0-9a-f]{40}$/.test(text) ? text.slice(0, 10) : text;
};

/**
 * Names what a revision's source changed against the one before: `commit 1f0c… → 9ab2…`. Variables and resources are
 * the deployment's, and not recorded with its revisions.
 */
export function describeChanges(revision: Sourced, previous: Sourced | undefined): string {
  if (previous === undefined) return "First revision";
  if (revision.source !== previous.source) return "Source changed";
  const [after, before] = [revision.source_revision_config, previous.source_revision_config];
  const named = [
    ["branch or tag", "repo_ref"],
    ["commit", "repo_commit_sha"],
    ["image", "image_uri"],
    ["configuration", "langgraph_config_path"],
  ] as const;
  const changes = named
    .filter(([, key]) => (after[key] ?? null) !== (before[key] ?? null))
    .map(([name, key]) => `${name} ${short(before[key])} → ${short(after[key])}`);
  if ((after.source_tarball_path ?? null) !== (before.source_tarball_path ?? null)) changes.push("new upload");
  return changes.length === 0 ? "Same source" : changes.join(", ");
}
