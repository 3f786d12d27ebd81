import type { Principal } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { conflict, forbidden, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { MAX_VIEWS, type ViewCreate, type ViewPatch } from "./schema.ts";
import * as rows from "./sql.ts";

/** Who the caller is to views: a user, by any of their keys or sessions; else the key; on a server without keys, all. */
export const viewerOf = ({ actor, workspaceId }: Pick<Principal, "actor" | "workspaceId">): rows.Viewer => ({
  tenantId: workspaceId,
  personId: actor.userId ?? actor.id,
});

/**
 * Shared views are changed by callers who may change projects. Views of one's own are also changed by a signed-in
 * person with any role: they are settings of that person. A key without that permission changes nothing.
 */
function checkRight({ actor, permissions }: Principal, isShared: boolean): void {
  if (permissions.has("projects:update")) return;
  if (isShared)
    throw forbidden('Shared views require the permission "projects:update". Save a view of your own instead.');
  if (actor.kind !== "session") throw forbidden('Saving views with a key requires the permission "projects:update"');
}

/** @returns the id */
export async function createView(sql: Sql, principal: Principal, projectId: string, body: ViewCreate): Promise<string> {
  checkRight(principal, body.is_shared);
  const viewer = viewerOf(principal);
  const id = body.id ?? uuid7();
  await sql.begin(async (tx) => {
    if ((await rows.countViews(tx, viewer.tenantId, projectId)) >= MAX_VIEWS) {
      throw unprocessable(`A project can have at most ${MAX_VIEWS} views. Delete some first.`);
    }
    if (!(await rows.insertView(tx, viewer, projectId, id, body))) throw conflict(`A view with the id ${id} exists`);
  });
  return id;
}

export async function changeView(
  sql: Sql,
  principal: Principal,
  projectId: string,
  id: string,
  {
    is_default: isDefault,
    if_updated_at: known,
    ...patch
  }: ViewPatch & { is_default?: boolean | null | undefined; if_updated_at?: string | null | undefined },
): Promise<void> {
  const viewer = viewerOf(principal);
  await sql.begin(async (tx) => {
    const view = await rows.lockView(tx, viewer, projectId, id);
    if (!view) throw notFound("View not found");
    const changes = Object.values(patch).some((value) => value !== undefined);
    if (changes) {
      checkRight(principal, view.is_shared || patch.is_shared === true);
      if (known != null && known !== view.updated_at) {
        throw conflict(
          "The view was changed since you opened it. Open it again to see the changes, or save yours as a new view.",
        );
      }
      // its owner alone may hide it from the others
      if (patch.is_shared === false && !view.is_mine) throw forbidden("Only the owner of a view can stop sharing it");
      await rows.updateView(tx, viewer.tenantId, id, patch);
    }
    if (isDefault != null) {
      checkRight(principal, false);
      await rows.setDefaultView(tx, viewer, projectId, id, isDefault);
    }
  });
}

export async function removeView(sql: Sql, principal: Principal, projectId: string, id: string): Promise<void> {
  const viewer = viewerOf(principal);
  await sql.begin(async (tx) => {
    const view = await rows.lockView(tx, viewer, projectId, id);
    if (!view) throw notFound("View not found");
    checkRight(principal, view.is_shared);
    await rows.deleteView(tx, viewer.tenantId, id);
  });
}
