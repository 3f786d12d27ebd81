import type { Route } from "../base/http/route.ts";
import { apiKeyRoutes } from "./api-keys/routes.ts";
import type { IdentityDeps } from "./deps.ts";
import { keyVerificationRoutes } from "./key-verification/routes.ts";
import { memberRoutes } from "./members/routes.ts";
import { organizationRoutes } from "./organizations/routes.ts";
import { roleRoutes } from "./roles/routes.ts";
import { workspaceRoutes } from "./workspaces/routes.ts";

/** Routes of workspaces, members, roles and keys. The trace platform serves them. */
export function identityRoutes(deps: IdentityDeps): Route[] {
  return [
    ...apiKeyRoutes(deps),
    ...keyVerificationRoutes(deps),
    // before /workspaces/:workspace_id, which would match "current" as an id
    ...memberRoutes(deps),
    ...workspaceRoutes(deps),
    ...organizationRoutes(deps),
    ...roleRoutes(deps),
  ];
}
