import type { Principal } from "../../base/auth/principal.ts";

/** Names the actor in records that outlive keys and users. */
export const actorName = ({ actor }: Principal): string => `${actor.kind} ${actor.name || actor.id}`.slice(0, 200);
