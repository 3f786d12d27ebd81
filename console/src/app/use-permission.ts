import { useQuery } from "@tanstack/react-query";

import type { components } from "../api/trace.d.ts";
import { readWorkspace } from "../api/credentials.ts";
import { identityQuery } from "../features/settings/queries.ts";
import { menuWorkspacesQuery } from "./queries.ts";

export type Permission = components["schemas"]["VisibleWorkspace"]["permissions"][number];

/**
 * Returns the reason why the caller may not do something in the current workspace; null if it may, and while that is
 * not known. The server decides; this only spares the user a rejected request.
 */
export function useDenial(permission: Permission): string | null {
  const { data: workspaces } = useQuery(menuWorkspacesQuery);
  const { data: identity } = useQuery({ ...identityQuery, staleTime: 60_000 });
  const id = readWorkspace() ?? identity?.tenant_id;
  const workspace = workspaces?.find((candidate) => candidate.id === id) ?? workspaces?.[0];
  if (!workspace || workspace.permissions.includes(permission)) return null;
  return `Your role does not include ${permission}. Ask an administrator of the workspace.`;
}
