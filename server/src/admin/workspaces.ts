import type { Plan } from "../base/auth/principal.ts";
import { uuid7 } from "../base/ids.ts";
import { ensureWorkspace } from "../identity/first-start.ts";
import {
  insertWorkspace,
  replaceOwner,
  selectAllWorkspaces,
  selectDefaultWorkspace,
  selectOwner,
  selectWorkspace,
  updateWorkspace,
  type WorkspaceRow,
} from "../identity/workspaces/sql.ts";
import { recordCommand } from "./record-command.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

export const listWorkspaces = (location: DataLocation): Promise<WorkspaceRow[]> =>
  withDatabase(location, ({ sql }) => selectAllWorkspaces(sql));

/** Creates a workspace in the organization of the default workspace. */
export function createWorkspace(location: DataLocation, wish: { name: string; plan: Plan }): Promise<WorkspaceRow> {
  return withDatabase(location, async ({ sql, log }) => {
    const { workspace: first } = await ensureWorkspace(sql, undefined, { withKey: false });
    const created = await insertWorkspace(sql, {
      id: uuid7(),
      organization_id: first.organization_id,
      display_name: wish.name,
      tenant_handle: null,
      plan: wish.plan,
      is_default: false,
    });
    const scope = { organizationId: first.organization_id, workspaceId: created!.id };
    await recordCommand(
      sql,
      log,
      "heddle workspaces create",
      { id: created!.id, plan: wish.plan },
      { of: scope, location },
    );
    return created!;
  });
}

/** @returns undefined when the workspace does not exist */
export function changeWorkspace(
  location: DataLocation,
  id: string,
  changes: { name: string | null; plan: Plan | null },
): Promise<WorkspaceRow | undefined> {
  return withDatabase(location, async ({ sql, log }) => {
    const changed = await updateWorkspace(sql, id, { display_name: changes.name, plan: changes.plan });
    if (!changed) return undefined;
    const scope = { organizationId: changed.organization_id, workspaceId: changed.id };
    await recordCommand(sql, log, "heddle workspaces update", { id, plan: changed.plan }, { of: scope, location });
    return changed;
  });
}

/**
 * Transfers the database, with all its threads and runs, to a workspace. Its agent servers must be stopped, as they
 * would continue to serve the previous owner. A database without workspaces has its keys verified by a platform, so any
 * id may own it.
 */
export function handOverDatabase(location: DataLocation, id: string): Promise<void> {
  return withDatabase(location, async ({ sql, log }) => {
    const known = await selectWorkspace(sql, id);
    if (!known && (await selectDefaultWorkspace(sql))) {
      throw new Error(`There is no workspace ${id}. Create one first: heddle workspaces create --name NAME.`);
    }
    const before = await selectOwner(sql);
    const [live] = await sql<{ host_name: string }[]>`
      select host_name from servers where heartbeat_at > clock_timestamp() - interval '15 seconds' limit 1`;
    if (live) {
      throw new Error(
        `An agent server on ${live.host_name} uses this database. Stop the agent servers of this database and ` +
          "try again.",
      );
    }
    await replaceOwner(sql, id);
    const scope = { organizationId: known?.organization_id ?? "", workspaceId: id };
    const target = { id, ...(before && { before: before.workspace_id }) };
    await recordCommand(sql, log, "heddle workspaces hand-over", target, { of: scope, location });
  });
}
