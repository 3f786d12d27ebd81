import type { Principal } from "../../base/auth/principal.ts";
import { forbidden } from "../../base/errors.ts";

/**
 * Rejects callers who may not view runs. Statistics by a filter or grouping of the caller's choice tell what is in runs, unlike those
 * of dashboards that others have made.
 * @throws 403
 */
export function requireRuns({ permissions }: Pick<Principal, "permissions">): void {
  if (!permissions.has("runs:read")) throw forbidden("Forbidden: the permission runs:read is required.");
}
