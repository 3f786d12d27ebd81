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

type Made = Pick<Revision, "source" | "source_revision_config"> & { made_from?: Revision["made_from"] };

const short = (value: unknown): string => {
  if (value == null || value === "") return "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[0-9a-f]{40}$/.test(text) ? text.slice(0, 10) : text;
};

const SOURCE = [
  ["branch or tag", "repo_ref"],
  ["commit", "repo_commit_sha"],
  ["image", "image_uri"],
  ["configuration", "langgraph_config_path"],
] as const;

/**
 * Lists the differences of a revision from the previous one as phrases: `commit 1f0c… → 9ab2…`, `added variable KEY`,
 * `memory_mb 512 → 1024`.
 */
export function listChanges(revision: Made, previous: Made): string[] {
  if (revision.source !== previous.source) return ["source changed"];
  const [after, before] = [revision.source_revision_config, previous.source_revision_config];
  const changes = SOURCE.filter(([, key]) => (after[key] ?? null) !== (before[key] ?? null)).map(
    ([name, key]) => `${name} ${short(before[key])} → ${short(after[key])}`,
  );
  if ((after.source_tarball_path ?? null) !== (before.source_tarball_path ?? null)) changes.push("new upload");
  return [...changes, ...listVariables(revision), ...listSettings(revision, previous)];
}

function listVariables({ made_from: made }: Made): string[] {
  const { added = [], changed = [], removed = [] } = made?.variable_changes ?? {};
  const phrase = (verb: string, names: string[]) =>
    names.length === 0 ? [] : [`${verb} ${names.length === 1 ? "variable" : "variables"} ${names.join(", ")}`];
  return [...phrase("added", added), ...phrase("changed", changed), ...phrase("removed", removed)];
}

function listSettings({ made_from: after }: Made, { made_from: before }: Made): string[] {
  if (!after || !before) return [];
  const settings = (made: NonNullable<Made["made_from"]>): Record<string, unknown> => ({
    ...made.resource_spec,
    "install command": made.install_command,
    "build command": made.build_command,
  });
  const [now, then] = [settings(after), settings(before)];
  return [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => short(now[name]) !== short(then[name]))
    .map((name) => `${name} ${short(then[name])} → ${short(now[name])}`);
}

/** Describes in one line what a revision changed from the one before it. */
export function describeChanges(revision: Made, previous: Made | undefined): string {
  if (previous === undefined) return "First revision";
  const changes = listChanges(revision, previous);
  return changes.length === 0 ? "No changes" : changes.join(", ");
}

/**
 * Names the step back of a revision that deploys an earlier one again.
 * @param revisions of its deployment
 */
export function describeRedeploy(
  { number, redeploy_of: of }: Pick<Revision, "number" | "redeploy_of">,
  revisions: readonly Pick<Revision, "id" | "number">[],
): string | null {
  if (of === null) return null;
  const from = revisions.find(({ id }) => id === of)?.number;
  const name = from === undefined ? of.slice(-8) : `revision ${from}`;
  return from === number - 1 ? `Redeploy of ${name}` : `Rollback to ${name}`;
}
