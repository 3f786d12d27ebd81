/** Composition: which spaces are mounted on which HTTP application, and what surrounds every request. */
import { Hono } from "hono";
import { cors } from "hono/cors";

import type { AgentDeps } from "./agent/deps.ts";
import { agentRoutes } from "./agent/index.ts";
import { AppError } from "./base/errors.ts";
import { errorHandler, type ErrorMode, errorResponse } from "./base/http/errors.ts";
import { limitBody } from "./base/http/limit-body.ts";
import { type Guard, mountRoutes, type Route } from "./base/http/route.ts";
import type { Log } from "./base/log.ts";
import { type Metrics, measureRequests } from "./base/metrics.ts";
import type { TraceDeps } from "./trace/deps.ts";
import { traceRoutes } from "./trace/index.ts";

const EXPOSED_HEADERS = ["content-location", "location", "x-pagination-total", "x-pagination-next"];

interface Space {
  log: Log;
  metrics: Metrics;
  settings: { errors: ErrorMode; maxBodyBytes: number };
}

export const createAgentApp = (deps: AgentDeps, guard: Guard): Hono => createApp(deps, agentRoutes(deps), guard);

export const createTraceApp = (deps: TraceDeps, guard: Guard): Hono => createApp(deps, traceRoutes(deps), guard);

function createApp({ settings, log, metrics }: Space, routes: Route[], guard: Guard): Hono {
  const app = new Hono();
  app.onError(errorHandler(settings.errors, log));
  app.notFound(() => errorResponse(settings.errors, new AppError(404, "404 Not Found")));
  app.use(measureRequests(metrics));
  app.use(
    cors({
      origin: "*",
      exposeHeaders: EXPOSED_HEADERS,
      allowMethods: ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH"],
    }),
  );
  app.use(limitBody(settings.maxBodyBytes, settings.errors));
  mountRoutes(app, routes, guard);
  return app;
}
