/** Which files of the control plane belong to a backup. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import type { Sql } from "../../base/db/connect.ts";
import { hasSource, servingRevisions } from "../../control/revisions/source.ts";
import { type CopyOptions, findLink } from "./copy-files.ts";
import { leadsOut } from "./entry-tree.ts";

/**
 * Whether a path in the control plane's directory is of no use after a restore: files of running instances, caches,
 * locks, and what belongs to this machine alone, which are system users of deployments and records of the engine's
 * images. The next start creates all of it again.
 */
export const isPassing = (path: string): boolean =>
  /^(instances|image-builds|images|deployments|git|tracing\.key)(\/|$)/.test(path) ||
  // in the source of a build, these names are the project's
  (/\.(lock|tmp|part)$/.test(path) && !SOURCE.test(path));

/** Part of a build that belongs to its deployment, whose code can change it. */
const SOURCE = /^builds\/[^/]+\/src\//;

export interface ChosenBuilds {
  copied: ReadonlySet<string>;
  leftOut: number;
  notes: string[];
}

/**
 * Chooses the builds to copy: those that cannot be made again, because their archive has been deleted, or all with
 * `withBuilds`. Never those with links that lead out of them, such as virtual environments of Python: they work with
 * the programs of this machine only.
 */
export async function chooseBuilds(sql: Sql, control: string, withBuilds: boolean): Promise<ChosenBuilds> {
  const directory = join(control, "builds");
  const builds = existsSync(directory) ? await readdir(directory) : [];
  if (builds.length === 0) return { copied: new Set(), leftOut: 0, notes: [] };
  const lost = (await servingRevisions(sql)).filter((serving) => !hasSource(control, serving));
  const wanted = withBuilds ? builds : lost.map((serving) => serving.artifact_id);
  const copied = new Set<string>();
  for (const id of wanted) {
    const source = join(directory, id, "src");
    if (!existsSync(join(directory, id, "complete")) || !existsSync(source)) continue;
    if (!(await findLink(source, (path, target) => leadsOut(`builds/${id}/src/${path}`, target)))) copied.add(id);
  }
  const notes = lost
    .filter((serving) => !copied.has(serving.artifact_id))
    .map(
      ({ name }) =>
        `The deployment ${name} will not serve after a restore: the archive of its project has been deleted, and its ` +
        "build is not portable. Deploy the project again, then repeat the backup.",
    );
  return { copied, leftOut: builds.length - copied.size, notes };
}

export const controlCopy = ({ copied }: ChosenBuilds): CopyOptions => ({
  leavesOut(path) {
    const [, build] = /^builds\/([^/]+)/.exec(path) ?? [];
    return isPassing(path) || (build !== undefined && !copied.has(build));
  },
  keepsLink: (path, target) => !leadsOut(path, target),
  isForeign: (path) => SOURCE.test(path),
});
