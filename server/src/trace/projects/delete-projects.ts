import type { TraceDeps } from "../deps.ts";
import { deleteProjectRows } from "../project-records/sql.ts";
import { type DeleteDeps, deleteRunsOfProjects } from "../runs/delete-runs.ts";
import type { RunScope } from "../runs/run-scope.ts";

/**
 * Deletes projects with all their runs. Projects are invisible at once, and their runs are deleted when this resolves.
 * Until then, and for runs that other replicas accept within the next second, `project_deletions` records them
 * (retention/retention-sweep.ts).
 *
 * @returns the ids of the deleted projects
 */
export async function deleteProjects(
  deps: DeleteDeps & Pick<TraceDeps, "projects">,
  scope: RunScope,
  ids: string[],
): Promise<string[]> {
  const deleted = await deleteProjectRows(deps.sql, scope.tenantId, ids);
  deps.projects.forget();
  if (deleted.length > 0) await deleteRunsOfProjects(deps, scope, deleted);
  return deleted;
}
