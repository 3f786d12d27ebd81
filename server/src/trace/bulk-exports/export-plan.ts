import type { Principal } from "../../base/auth/principal.ts";
import { forbidden } from "../../base/errors.ts";

export const PLAN_WITHOUT_EXPORTS = "developer";

/** Exports come with the plans plus and enterprise; a self-hosted workspace has the latter unless told otherwise. */
export function requireExports({ plan }: Pick<Principal, "plan">): void {
  if (plan === PLAN_WITHOUT_EXPORTS)
    throw forbidden("Forbidden: bulk exports are not in this workspace's plan (developer).");
}
