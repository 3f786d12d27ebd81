import type { Route } from "../base/http/route.ts";
import { a2aRoutes } from "./a2a/routes.ts";
import { assistantRoutes } from "./assistants/routes.ts";
import { enabledRoutes } from "./custom-app/enabled-routes.ts";
import type { AgentRoute } from "./custom-auth/agent-route.ts";
import { type GuardedRoute, guardRoutes } from "./custom-auth/guard-routes.ts";
import { cronRoutes } from "./crons/routes.ts";
import type { AgentDeps } from "./deps.ts";
import { refuseEncryptionContext } from "./encryption/refuse-context.ts";
import { mcpRoutes } from "./mcp/routes.ts";
import { protocolRoutes } from "./protocol/routes.ts";
import { queueRoutes } from "./queue-status/routes.ts";
import { runRoutes } from "./runs/routes.ts";
import { statelessRunRoutes } from "./runs/stateless-routes.ts";
import { storeRoutes } from "./store/routes.ts";
import { systemRoutes } from "./system/routes.ts";
import { threadStreamRoutes } from "./thread-stream/routes.ts";
import { threadRoutes } from "./threads/routes.ts";
import { truncateRoutes } from "./truncate/routes.ts";
import { uiRoutes } from "./ui/routes.ts";
import { waitRoutes } from "./waits/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

/** Routes of a worker: health and metrics. */
export const workerRoutes = (deps: AgentDeps): Route[] =>
  systemRoutes(deps, []).filter(({ path }) => ["/ok", "/ready", "/readyz", "/livez", "/metrics"].includes(path));

/** All endpoints of the agent server. System routes come last, because their document describes the others. */
export function agentRoutes(deps: AgentDeps): GuardedRoute[] {
  const all: AgentRoute[] = [
    // before the run routes: /runs/crons must not match as a run id
    ...cronRoutes(deps),
    ...statelessRunRoutes(deps),
    ...runRoutes(deps),
    ...assistantRoutes(deps),
    ...threadRoutes(deps),
    ...waitRoutes(deps),
    ...protocolRoutes(deps),
    ...threadStreamRoutes(deps),
    ...mcpRoutes(deps),
    ...a2aRoutes(deps),
    ...storeRoutes(deps),
    ...webhookRoutes(deps),
    ...queueRoutes(deps),
    ...truncateRoutes(deps),
    ...uiRoutes(deps),
  ];
  const { http } = deps.project.config;
  const routes = enabledRoutes(all, http);
  const mounted = [...routes, ...enabledRoutes(systemRoutes(deps, routes), http)];
  return guardRoutes(deps, refuseEncryptionContext(mounted));
}
