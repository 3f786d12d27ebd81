import type { Principal } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { findMembership } from "./reviewer-sql.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the identity under which the caller reviews: a member's id in the workspace; the user's id for an
 * administrator who is not a member; the id of a service key; and the workspace's id on a server without keys, which
 * knows one reviewer.
 */
export async function reviewerIdentity(
  sql: Sql,
  { actor, workspaceId }: Pick<Principal, "actor" | "workspaceId">,
): Promise<string> {
  if (actor.userId !== null) return (await findMembership(sql, workspaceId, actor.userId)) ?? actor.userId;
  return UUID.test(actor.id) ? actor.id : workspaceId;
}
