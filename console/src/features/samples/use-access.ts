import { useQuery } from "@tanstack/react-query";

import { agentUrl } from "../../api/clients.ts";
import { readKey } from "../../api/credentials.ts";
import { PREFIX } from "../../api/prefix.ts";
import { spacesQuery } from "../../app/queries.ts";
import { identityQuery } from "../settings/queries.ts";
import type { Access } from "./samples.ts";

/** Placeholder for an API key: a signed-in user must create one, and an entered key is not shown. */
const KEY_PLACE = "<your API key>";

/**
 * Returns the address of a space as this browser reaches it, and whether it needs a key.
 * @param space `trace`, `control`, or the id of an agent server
 */
export function useAccess(space: { agent: string } | "trace" | "control"): Access {
  const { data: about } = useQuery(spacesQuery);
  const { data: identity } = useQuery({ ...identityQuery, enabled: about?.spaces.trace === true, staleTime: 60_000 });
  const path = typeof space === "string" ? `${PREFIX}/api/${space}` : agentUrl(space.agent);
  const isOpen = identity !== undefined && identity.user_id === "" && readKey() === null;
  return { url: `${location.origin}${path}`, key: isOpen || about?.spaces.trace === false ? null : KEY_PLACE };
}
