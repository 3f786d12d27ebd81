import type { Principal } from "../../base/auth/principal.ts";
import { forbidden } from "../../base/errors.ts";

/** Exports come with the plans plus and enterprise; a self-hosted workspace has the latter unless told otherwise. */
export function requireExports({ plan }: Pick<Principal, "plan">): void {
  if (plan === "developer") throw forbidden("Forbidden: bulk exports are not in this workspace's plan (developer).");
}
