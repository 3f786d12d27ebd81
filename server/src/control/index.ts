import type { Route } from "../base/http/route.ts";
import { keyVerificationRoutes } from "../identity/key-verification/routes.ts";
import type { ControlDeps } from "./deps.ts";
import type { Health } from "../base/health.ts";
import type { Metrics } from "../base/metrics.ts";
import { gatewayRoutes } from "./gateway/routes.ts";
import { deploymentRoutes } from "./deployments/routes.ts";
import { integrationRoutes } from "./integrations/routes.ts";
import { listenerRoutes } from "./listeners/routes.ts";
import { logRoutes } from "./revisions/log-routes.ts";
import { revisionRoutes } from "./revisions/routes.ts";
import { instanceRoutes } from "./runtime/routes.ts";
import { systemRoutes } from "./system/routes.ts";
import { uploadRoutes } from "./uploads/routes.ts";
import { webhookRoutes } from "./git-webhooks/routes.ts";

/** Endpoints of a standalone gateway: health and metrics. */
export const gatewayOnlyRoutes = (deps: { health: Health; metrics: Metrics }): Route[] => gatewayRoutes(deps);

/** All endpoints of the control plane. System routes come last, because their document describes the others. */
export function controlRoutes(deps: ControlDeps): Route[] {
  const routes: Route[] = [
    ...deploymentRoutes(deps),
    ...revisionRoutes(deps),
    ...uploadRoutes(deps),
    ...logRoutes(deps),
    ...instanceRoutes(deps),
    ...integrationRoutes(deps),
    ...webhookRoutes(deps),
    ...listenerRoutes(deps),
    ...keyVerificationRoutes(deps),
  ];
  return [...routes, ...systemRoutes(deps, routes)];
}
