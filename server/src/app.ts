/** Composition: which spaces are mounted on one HTTP application, and what surrounds every request. */
import { Hono } from "hono";
import { cors } from "hono/cors";

import type { AgentDeps } from "./agent/deps.ts";
import { agentRoutes } from "./agent/index.ts";
import { AppError } from "./base/errors.ts";
import { errorHandler, errorResponse } from "./base/http/errors.ts";
import { limitBody } from "./base/http/limit-body.ts";
import { mountRoutes } from "./base/http/route.ts";
import { measureRequests } from "./base/metrics.ts";

const EXPOSED_HEADERS = ["content-location", "location", "x-pagination-total", "x-pagination-next"];

export function createApp(deps: AgentDeps): Hono {
  const { settings, log } = deps;
  const app = new Hono();
  app.onError(errorHandler(settings.errors, log));
  app.notFound(() => errorResponse(settings.errors, new AppError(404, "404 Not Found")));
  app.use(measureRequests(deps.metrics));
  app.use(
    cors({
      origin: "*",
      exposeHeaders: EXPOSED_HEADERS,
      allowMethods: ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH"],
    }),
  );
  app.use(limitBody(settings.maxBodyBytes, settings.errors));
  mountRoutes(app, agentRoutes(deps));
  return app;
}
