/** Composition: which spaces are mounted on which HTTP application, and what surrounds every request. */
import { Hono, type MiddlewareHandler } from "hono";

import { projectAuthenticator } from "./agent/custom-auth/authenticate.ts";
import type { AgentDeps } from "./agent/deps.ts";
import { agentRoutes, workerRoutes } from "./agent/index.ts";
import { AppError } from "./base/errors.ts";
import { type ClientIpSettings, findClientIp } from "./base/http/client-ip.ts";
import { allowOrigins, type CrossOriginSettings } from "./base/http/cross-origin.ts";
import { errorHandler, type ErrorMode, errorResponse } from "./base/http/errors.ts";
import { limitBody } from "./base/http/limit-body.ts";
import { nameRequests } from "./base/http/request-id.ts";
import { type Guard, mountRoutes, type Route } from "./base/http/route.ts";
import type { Log } from "./base/log.ts";
import { type Metrics, measureRequests } from "./base/metrics.ts";
import type { TraceDeps } from "./trace/deps.ts";
import { isFeedbackLink } from "./trace/feedback/token-path.ts";
import { traceRoutes } from "./trace/index.ts";
import { limitRequests } from "./trace/rate-limits/limit-requests.ts";

interface Space {
  log: Log;
  metrics: Metrics;
  settings: { errors: ErrorMode; maxBodyBytes: number } & ClientIpSettings & CrossOriginSettings;
}

/** What stands before every route, also before those that there are not: `preflights` before CORS, `requests` behind. */
interface Gate {
  preflights: MiddlewareHandler;
  requests: MiddlewareHandler;
}

export function createAgentApp(deps: AgentDeps, guard: Guard): Hono {
  const { served } = guard;
  const authenticator = served ? projectAuthenticator(deps, guard.authenticator, served) : guard.authenticator;
  const app = createApp(deps, agentRoutes(deps), { ...guard, authenticator });
  deps.loopback.answer = async (request) => app.fetch(request);
  return app;
}

/** What a worker shows of itself. What it asks of itself, as a webhook may, finds everything. */
export function createWorkerApp(deps: AgentDeps, guard: Guard): Hono {
  createAgentApp(deps, guard);
  return createApp(deps, workerRoutes(deps), guard);
}

export function createTraceApp(deps: TraceDeps, guard: Guard): Hono {
  const { rateLimits, log } = deps;
  const gate = rateLimits.mode === "off" ? undefined : limitRequests(rateLimits, guard.authenticator, log);
  return createApp(deps, traceRoutes(deps, guard.audit), guard, gate, isFeedbackLink);
}

/** `isOpen`: paths that pages of any origin may call, whatever the setting says. */
function createApp(
  { settings, log, metrics }: Space,
  routes: Route[],
  guard: Guard,
  gate?: Gate,
  isOpen?: (path: string) => boolean,
): Hono {
  const app = new Hono();
  app.onError(errorHandler(settings.errors, log));
  app.notFound(() => errorResponse(settings.errors, new AppError(404, "404 Not Found")));
  app.use(measureRequests(metrics));
  app.use(nameRequests);
  app.use(findClientIp(settings));
  if (gate) app.use(gate.preflights);
  app.use(allowOrigins(settings, isOpen));
  if (gate) app.use(gate.requests);
  app.use(limitBody(settings.maxBodyBytes, settings.errors));
  mountRoutes(app, routes, guard);
  return app;
}
