import type { Plan } from "../base/auth/principal.ts";
import { uuid7 } from "../base/ids.ts";
import { ensureWorkspace } from "../identity/first-start.ts";
import {
  insertWorkspace,
  selectAllWorkspaces,
  updateWorkspace,
  type WorkspaceRow,
} from "../identity/workspaces/sql.ts";
import { recordCommand } from "./record-command.ts";
import { type DataPlace, withDatabase } from "./with-database.ts";

export const listWorkspaces = (place: DataPlace): Promise<WorkspaceRow[]> =>
  withDatabase(place, ({ sql }) => selectAllWorkspaces(sql));

/** In the organisation of the default workspace. */
export function createWorkspace(place: DataPlace, wish: { name: string; plan: Plan }): Promise<WorkspaceRow> {
  return withDatabase(place, async ({ sql, log }) => {
    const { workspace: first } = await ensureWorkspace(sql, undefined, { withKey: false });
    const made = await insertWorkspace(sql, {
      id: uuid7(),
      organization_id: first.organization_id,
      display_name: wish.name,
      tenant_handle: null,
      plan: wish.plan,
      is_default: false,
    });
    const of = { organizationId: first.organization_id, workspaceId: made!.id };
    await recordCommand(sql, log, "heddle workspaces create", { id: made!.id, plan: wish.plan }, { of, place });
    return made!;
  });
}

/** Undefined when there is no such workspace. */
export function changeWorkspace(
  place: DataPlace,
  id: string,
  changes: { name: string | null; plan: Plan | null },
): Promise<WorkspaceRow | undefined> {
  return withDatabase(place, async ({ sql, log }) => {
    const changed = await updateWorkspace(sql, id, { display_name: changes.name, plan: changes.plan });
    if (!changed) return undefined;
    const of = { organizationId: changed.organization_id, workspaceId: changed.id };
    await recordCommand(sql, log, "heddle workspaces update", { id, plan: changed.plan }, { of, place });
    return changed;
  });
}
