import type { Principal } from "../../base/auth/principal.ts";
import { forbidden } from "../../base/errors.ts";

export const PLAN_WITHOUT_EXPORTS = "developer";

/**
 * Throws 403 unless the plan includes exports (plus and enterprise). A self-hosted workspace has enterprise by default.
 */
export function requireExports({ plan }: Pick<Principal, "plan">): void {
  if (plan === PLAN_WITHOUT_EXPORTS)
    throw forbidden("Forbidden: this workspace's plan (developer) does not include bulk exports.");
}
