/**
 * Binds a database to one workspace. Threads, runs and store items carry no workspace id, so two agent servers of
 * different workspaces on one database would read and execute each other's runs.
 */
import { ConfigError } from "../../base/config/options.ts";
import type { DatabaseAddress, Sql } from "../../base/db/connect.ts";
import { withoutLimit } from "../../base/db/migrate.ts";
import { retryWhileUnavailable } from "../../base/db/retry.ts";
import { uuid7 } from "../../base/ids.ts";
import { insertOwner, selectDefaultWorkspace, selectOwner, selectWorkspace } from "./sql.ts";

export interface ClaimRequest {
  /** Workspace chosen by the operator; undefined for the default one. */
  workspaceId: string | undefined;
  /** Whether the workspaces are stored by another server, and not in this database. */
  isRemote: boolean;
}

/**
 * Claims a migrated database and returns the workspace that owns it.
 * @throws ConfigError when it belongs to a workspace other than the wanted one
 */
export const claimDatabase = (database: DatabaseAddress, request: ClaimRequest): Promise<string> =>
  retryWhileUnavailable(() => withoutLimit(database, (sql) => claim(sql, database, request)));

async function claim(sql: Sql, database: DatabaseAddress, { workspaceId, isRemote }: ClaimRequest): Promise<string> {
  const first = await selectDefaultWorkspace(sql);
  // checked before the claim: otherwise a mistyped id would own the database
  if (workspaceId !== undefined && !isRemote && first && !(await selectWorkspace(sql, workspaceId))) {
    throw unknownWorkspace(workspaceId, first);
  }
  const mine = workspaceId ?? first?.id;
  const owner = (await selectOwner(sql)) ?? (await insertOwner(sql, mine ?? uuid7()));
  // an unconfigured server on a database without workspaces uses the owner's workspace
  if (mine === undefined || mine === owner.workspace_id) return owner.workspace_id;
  const chosen = workspaceId === undefined ? "whose default workspace is" : "and HEDDLE_WORKSPACE_ID names";
  throw new ConfigError(
    `The database ${hostAndPath(database)} belongs to workspace ${owner.workspace_id}, ${chosen} ${mine}. ` +
      "Agent servers of two workspaces on one database would execute each other's runs. " +
      `Use a separate database for this server, or set HEDDLE_WORKSPACE_ID=${owner.workspace_id}. To hand the database ` +
      `over with all its threads, stop its agent servers and run: heddle workspaces hand-over --id ${mine}`,
  );
}

/** Formats the address without the password. */
function hostAndPath({ uri }: DatabaseAddress): string {
  if (!URL.canParse(uri)) return "";
  const { host, pathname } = new URL(uri);
  return `${pathname.slice(1)} at ${host}`;
}

export const unknownWorkspace = (workspaceId: string, first: { id: string; display_name: string }): ConfigError =>
  new ConfigError(
    `HEDDLE_WORKSPACE_ID names ${workspaceId}, but there is no such workspace. To list workspaces: heddle workspaces ` +
      `list. Without the setting the server uses ${first.id} (${first.display_name}).`,
  );
