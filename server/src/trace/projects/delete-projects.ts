import type { TraceDeps } from "../deps.ts";
import { type DeleteDeps, deleteRunsOfProjects } from "../runs/delete-runs.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { deleteProjectRows } from "./sql.ts";

/**
 * Deletes projects with all their runs. For readers they are gone at once; the runs are when this resolves. Until
 * then, and for what other replicas still take for them within a second, `project_deletions` remembers them
 * (retention/sweep-deletions.ts).
 *
 * @returns the ids that there were
 */
export async function deleteProjects(
  deps: DeleteDeps & Pick<TraceDeps, "projects">,
  scope: RunScope,
  ids: string[],
): Promise<string[]> {
  const gone = await deleteProjectRows(deps.sql, scope.tenantId, ids);
  deps.projects.forget();
  if (gone.length > 0) await deleteRunsOfProjects(deps, scope, gone);
  return gone;
}
