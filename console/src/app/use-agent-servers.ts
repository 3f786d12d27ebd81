import { useQuery } from "@tanstack/react-query";

import { type AgentServer, deploymentServersQuery, spacesQuery } from "./queries.ts";

/** Returns the agent servers that have pages: the one beside the console and all deployments with a URL. */
export function useAgentServers(): { servers: AgentServer[]; isPending: boolean; error: Error | null } {
  const { data: about, isPending, error } = useQuery(spacesQuery);
  const deployments = useQuery({ ...deploymentServersQuery, enabled: about?.spaces.control === true });
  const local = about?.spaces.agent ? [{ id: "local", name: "This server", deploymentId: null }] : [];
  const waits = isPending || (about?.spaces.control === true && deployments.isPending);
  return { servers: [...local, ...(deployments.data ?? [])], isPending: waits, error: error ?? deployments.error };
}
