/** Composition: mounts the spaces on HTTP applications, and the middleware around every request. */
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
import { explainMissingTrace } from "./trace/not-built.ts";

interface Space {
  log: Log;
  metrics: Metrics;
  health: ServerHealth;
  settings: { errors: ErrorMode } & BodySettings & ClientIpSettings & CrossOriginSettings;
}

/** Middleware ahead of every route, including unknown paths: `preflights` runs before CORS, `requests` after it. */
interface Gate {
  preflights: MiddlewareHandler;
  requests: MiddlewareHandler;
}

/**
 * Builds the agent application. A `worker` serves only health and metrics; its internal requests, such as those of
 * webhooks, reach every route.
 */
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
    explainMissing: explainMissingTrace,
    strict: false,
  });
}

export const createControlApp = (deps: ControlDeps, guard: Guard, reach: Reach = LOCAL): Hono =>
  createApp(deps, controlRoutes(deps), guard, {
    allows: platformOrigins(deps.settings, reach),
    explainMissing,
  });

/** Reads the HTTP section of langgraph.json: CORS rules, a prefix, the project's own app. */
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
      // the project's middleware may read bodies that our routes read again
      app.use(holdBodies(bodies));
      mountCustomApp(app, deps.customApp, enable_custom_route_auth ? guard : null);
    },
  };
}

interface Surroundings {
  /** Origins whose pages may call this application. */
  allows: OriginRule;
  gate?: Gate | undefined;
  /** Paths open to pages of any origin, regardless of the setting. */
  isOpen?: (path: string) => boolean;
  corsRules?: CrossOriginRules | undefined;
  logger?: MiddlewareHandler | undefined;
  /** Returns an explanation for an unknown path. */
  explainMissing?: (path: string) => string | undefined;
  /** Prefix of every path. */
  prefix?: string | undefined;
  /** Whether a trailing slash makes a path another one: not for LangSmith's clients (contract trace-platform §0.1). */
  strict?: boolean;
  /** Mounts handlers ahead of the routes. */
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
  // headers set by a project's own middleware ahead of our routes take precedence
  app.use(allowOrigins(allows, rules, isOpen, mountFirst !== undefined));
  if (gate) app.use(gate.requests);
  const bodies = { maxBytes: settings.maxBodyBytes, gate: guard.bodies ?? new BodyGate(settings) };
  mountFirst?.(app, routes, guard, bodies);
  mountRoutes(app, routes, guard, bodies);
  return app;
}
