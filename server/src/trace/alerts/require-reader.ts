import type { Principal } from "../../base/auth/principal.ts";
import { forbidden } from "../../base/errors.ts";

/** @throws 403 for a caller who may see rules but no runs: values and names of groups are those of runs */
export function requireReader({ permissions }: Pick<Principal, "permissions">): void {
  if (!permissions.has("runs:read")) throw forbidden("Forbidden: requires the permission runs:read.");
}
