import { ALL_PERMISSIONS } from "../../base/auth/permissions.ts";
import type { Principal } from "../../base/auth/principal.ts";

/** Returns the caller on whose behalf rules and jobs of a workspace act: Heddle itself, within this workspace. */
export const systemPrincipal = (tenantId: string): Principal => ({
  actor: { kind: "system", id: "", name: "Heddle", userId: null },
  organizationId: "",
  workspaceId: tenantId,
  plan: "developer",
  permissions: new Set(ALL_PERMISSIONS),
});
