import type { Route } from "../base/http/route.ts";
import { assistantRoutes } from "./assistants/routes.ts";
import { guardRoutes } from "./custom-auth/guard-routes.ts";
import type { AgentDeps } from "./deps.ts";
import { protocolRoutes } from "./protocol/routes.ts";
import { runRoutes } from "./runs/routes.ts";
import { storeRoutes } from "./store/routes.ts";
import { systemRoutes } from "./system/routes.ts";
import { threadRoutes } from "./threads/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

/** All endpoints of the agent server. The system's come last: its document describes the others. */
export function agentRoutes(deps: AgentDeps): Route[] {
  const routes = [
    ...runRoutes(deps),
    ...assistantRoutes(deps),
    ...threadRoutes(deps),
    ...protocolRoutes(deps),
    ...storeRoutes(deps),
    ...webhookRoutes(deps),
  ];
  return guardRoutes(deps, [...routes, ...systemRoutes(deps, routes)]);
}
