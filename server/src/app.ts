/** Composition: which spaces are mounted on which HTTP application, and what surrounds every request. */
import { type Context, Hono, type MiddlewareHandler } from "hono";

import { corsRules } from "./agent/custom-app/cors-rules.ts";
import { logRequests } from "./agent/custom-app/log-requests.ts";
import { authenticateFirst, mountCustomApp } from "./agent/custom-app/mount-custom-app.ts";
import { pathBelow, refuseOutside } from "./agent/custom-app/mount-prefix.ts";
import { projectAuthenticator } from "./agent/custom-auth/authenticate.ts";
import type { AgentDeps } from "./agent/deps.ts";
import { agentRoutes, workerRoutes } from "./agent/index.ts";
import { AppError } from "./base/errors.ts";
import { type ClientIpSettings, findClientIp } from "./base/http/client-ip.ts";
import { allowOrigins, type CrossOriginRules, type CrossOriginSettings } from "./base/http/cross-origin.ts";
import { errorHandler, type ErrorMode, errorResponse } from "./base/http/errors.ts";
import { BodyGate, type BodySettings } from "./base/http/body-gate.ts";
import { type BodyLimits, holdBodies } from "./base/http/hold-body.ts";
import { nameRequests } from "./base/http/request-id.ts";
import { type Guard, mountRoutes, type Route } from "./base/http/route.ts";
import type { Log } from "./base/log.ts";
import { type Metrics, measureRequests } from "./base/metrics.ts";
import type { ServerHealth } from "./base/server-health.ts";
import type { ControlDeps } from "./control/deps.ts";
import { controlRoutes } from "./control/index.ts";
import { explainMissing } from "./control/not-built.ts";
import type { TraceDeps } from "./trace/deps.ts";
import { isFeedbackLink } from "./trace/feedback/token-path.ts";
import { traceRoutes } from "./trace/index.ts";
import { agentOrigins, LOCAL, type OriginRule, platformOrigins, type Reach } from "./pages.ts";
import { limitRequests } from "./trace/rate-limits/limit-requests.ts";

interface Space {
  log: Log;
  metrics: Metrics;
  health: ServerHealth;
  settings: { errors: ErrorMode } & BodySettings & ClientIpSettings & CrossOriginSettings;
}

/** What stands before every route, also before those that there are not: `preflights` before CORS, `requests` behind. */
interface Gate {
  preflights: MiddlewareHandler;
  requests: MiddlewareHandler;
}

/** `worker`: of what is mounted only its health and figures; what it asks of itself, as a webhook may, finds everything. */
export function createAgentApp(deps: AgentDeps, guard: Guard, worker = false, reach: Reach = LOCAL): Hono {
  const { served } = guard;
  const authenticator = served ? projectAuthenticator(deps, guard.authenticator, served) : guard.authenticator;
  const app = createApp(deps, agentRoutes(deps), { ...guard, authenticator }, projectSurroundings(deps, reach));
  deps.loopback.answer = async (request) => app.fetch(request);
  deps.loopback.ready = true;
  return worker ? createApp(deps, workerRoutes(deps), guard, { allows: agentOrigins(deps, reach) }) : app;
}

export function createTraceApp(deps: TraceDeps, guard: Guard, reach: Reach = LOCAL): Hono {
  const { rateLimits, log } = deps;
  const allows = platformOrigins(deps.settings, reach);
  const gate = rateLimits.mode === "off" ? undefined : limitRequests(rateLimits, guard.authenticator, log);
  return createApp(deps, traceRoutes(deps, guard.audit), guard, {
    allows,
    gate,
    isOpen: isFeedbackLink,
    strict: false,
  });
}

export const createControlApp = (deps: ControlDeps, guard: Guard, reach: Reach = LOCAL): Hono =>
  createApp(deps, controlRoutes(deps), guard, {
    allows: platformOrigins(deps.settings, reach),
    explainMissing,
  });

/** What langgraph.json says of HTTP: rules for other origins, a prefix, the project's own app. */
function projectSurroundings(deps: AgentDeps, reach: Reach): Surroundings {
  const { http } = deps.project.config;
  const prefix = deps.settings.mountPrefix ?? http.mount_prefix;
  const rules = http.logging_headers;
  return {
    allows: agentOrigins(deps, reach),
    corsRules: corsRules(http.cors),
    logger: rules && logRequests(deps.log, rules),
    prefix: prefix === "" ? undefined : prefix,
    mountFirst(app, routes, guard, bodies) {
      if (!deps.customApp) return;
      const { middleware_order, enable_custom_route_auth } = http;
      if (middleware_order === "auth_first") authenticateFirst(app, routes, guard);
      // its middleware may read what our routes read
      app.use(holdBodies(bodies));
      mountCustomApp(app, deps.customApp, enable_custom_route_auth ? guard : null);
    },
  };
}

interface Surroundings {
  /** Origins whose pages may call. */
  allows: OriginRule;
  gate?: Gate | undefined;
  /** Paths that pages of any origin may call, whatever the setting says. */
  isOpen?: (path: string) => boolean;
  corsRules?: CrossOriginRules | undefined;
  logger?: MiddlewareHandler | undefined;
  /** What there is to say of a path that there is not. */
  explainMissing?: (path: string) => string | undefined;
  /** Everything is below it. */
  prefix?: string | undefined;
  /** Whether a slash at a path's end makes it another one: not for LangSmith's clients (contract trace-platform §0.1). */
  strict?: boolean;
  /** Mounts what stands before the routes. */
  mountFirst?: (app: Hono, routes: Route[], guard: Guard, bodies: BodyLimits) => void;
}

function createApp(
  { settings, log, metrics, health }: Space,
  routes: Route[],
  guard: Guard,
  {
    allows,
    gate,
    isOpen,
    corsRules: rules,
    logger,
    prefix,
    strict = true,
    mountFirst,
    explainMissing: explain,
  }: Surroundings,
): Hono {
  const app = new Hono(prefix === undefined ? { strict } : { getPath: pathBelow(prefix) });
  const notFound = (c: Context) =>
    errorResponse(settings.errors, new AppError(404, explain?.(c.req.path) ?? "404 Not Found"));
  app.onError(errorHandler(settings.errors, log, (shortage) => health.note(shortage)));
  app.notFound(notFound);
  if (prefix !== undefined) refuseOutside(app, notFound);
  app.use(measureRequests(metrics));
  app.use(nameRequests);
  app.use(findClientIp(settings));
  if (logger) app.use(logger);
  if (gate) app.use(gate.preflights);
  // what a project's own middleware sets ahead of our routes counts
  app.use(allowOrigins(allows, rules, isOpen, mountFirst !== undefined));
  if (gate) app.use(gate.requests);
  const bodies = { maxBytes: settings.maxBodyBytes, gate: guard.bodies ?? new BodyGate(settings) };
  mountFirst?.(app, routes, guard, bodies);
  mountRoutes(app, routes, guard, bodies);
  return app;
}
