import { useQuery } from "@tanstack/react-query";

import { readWorkspace } from "../../api/credentials.ts";
import { workspacesQuery } from "../../app/queries.ts";
import { organizationQuery } from "./queries.ts";

/**
 * Returns why the user may do none of the actions; null if they may, and while that is not known: the server decides.
 */
export function usePermission(...names: string[]): string | null {
  const { data: workspaces } = useQuery(workspacesQuery);
  const id = readWorkspace();
  const workspace = workspaces?.find((candidate) => candidate.id === id) ?? (id === null ? workspaces?.[0] : undefined);
  if (!workspace) return null;
  const permissions: readonly string[] = workspace.permissions;
  return names.some((name) => permissions.includes(name))
    ? null
    : `Your role lacks the permission ${names.join(" or ")}.`;
}

/** The same, where the organization decides; null too where it is not asked. */
export function useOrganizationPermission(name: string, isAsked: boolean): string | null {
  const { data: organization } = useQuery({ ...organizationQuery, enabled: isAsked });
  if (!isAsked || !organization) return null;
  const permissions: readonly string[] = organization.permissions;
  return permissions.includes(name) ? null : `Your role in the organization lacks the permission ${name}.`;
}
