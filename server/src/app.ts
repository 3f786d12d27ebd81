/** Composition: the middleware around every request of a space. Each space is mounted by its own module. */
import { type Context, Hono, type MiddlewareHandler } from "hono";

import { rejectOutside, pathBelow } from "./agent/custom-app/path-prefix.ts";
import { AppError } from "./base/errors.ts";
import { rejectControlCharacters } from "./base/http/control-characters.ts";
import { type ClientIpSettings, findClientIp } from "./base/http/client-ip.ts";
import { allowOrigins, type CrossOriginRules, type CrossOriginSettings } from "./base/http/cross-origin.ts";
import { type ErrorFormat, errorHandler, errorResponse, formatFor } from "./base/http/errors.ts";
import { type BodySettings, createBodyGate } from "./base/http/body-gate.ts";
import type { BodyLimits } from "./base/http/hold-body.ts";
import { nameRequests } from "./base/http/request-id.ts";
import { type Guard, mountRoutes, type Route } from "./base/http/route.ts";
import type { Log } from "./base/log.ts";
import { type Metrics, measureRequests } from "./base/metrics.ts";
import type { ServerHealth } from "./base/server-health.ts";
import { type Telemetry, traceRequests } from "./base/telemetry/telemetry.ts";
import type { OriginRule } from "./pages.ts";

interface Space {
  log: Log;
  metrics: Metrics;
  health: Pick<ServerHealth, "note">;
  telemetry: Telemetry | undefined;
  settings: BodySettings & ClientIpSettings & CrossOriginSettings;
}

/** Middleware ahead of every route, including unknown paths: `preflights` runs before CORS, `requests` after it. */
interface Gate {
  preflights: MiddlewareHandler;
  requests: MiddlewareHandler;
}

export interface Surroundings {
  /** Origins whose pages may call this application. */
  allows: OriginRule;
  gate?: Gate | undefined;
  /** Runs before everything else. */
  arrival?: MiddlewareHandler;
  /** Paths open to pages of any origin, regardless of the setting. */
  isOpen?: (path: string) => boolean;
  corsRules?: CrossOriginRules | undefined;
  logger?: MiddlewareHandler | undefined;
  /** Returns an explanation for an unknown path. */
  explainMissing?: (path: string, method: string) => string | undefined;
  /** Environment variable that sets the largest body. */
  bodySetting: string;
  errors: ErrorFormat;
  /** Prefix of every path. */
  prefix?: string | undefined;
  /** Whether a trailing slash makes a path another one: not for LangSmith's clients. */
  strict?: boolean;
  /** Mounts handlers ahead of the routes. */
  mountFirst?: ((app: Hono, routes: Route[], guard: Guard, bodies: BodyLimits) => void) | undefined;
}

/** Builds the application of a space from its routes. */
export function createApp(
  { settings, log, metrics, health, telemetry }: Space,
  routes: Route[],
  guard: Guard,
  {
    allows,
    gate,
    arrival,
    isOpen,
    corsRules: rules,
    logger,
    bodySetting,
    errors,
    prefix,
    strict = true,
    mountFirst,
    explainMissing: explain,
  }: Surroundings,
): Hono {
  const app = new Hono(prefix === undefined ? { strict } : { getPath: pathBelow(prefix) });
  const notFound = (c: Context) =>
    errorResponse(formatFor(errors, c), new AppError(404, explain?.(c.req.path, c.req.method) ?? "404 Not Found"));
  app.onError(errorHandler(errors, log, (shortage) => health.note(shortage)));
  app.notFound(notFound);
  if (arrival) app.use(arrival);
  app.use(rejectControlCharacters);
  if (prefix !== undefined) rejectOutside(app, notFound);
  app.use(measureRequests(metrics));
  if (telemetry) app.use(traceRequests(telemetry));
  app.use(nameRequests);
  app.use(findClientIp(settings));
  if (logger) app.use(logger);
  if (gate) app.use(gate.preflights);
  // headers set by a project's own middleware ahead of our routes take precedence
  app.use(allowOrigins(allows, rules, isOpen, mountFirst !== undefined));
  if (gate) app.use(gate.requests);
  // ahead of the routes, whose parameters match some of these paths
  if (explain)
    app.use((c, next) => (explain(c.req.path, c.req.method) === undefined ? next() : Promise.resolve(notFound(c))));
  const bodies = {
    maxBytes: settings.maxBodyBytes,
    setting: bodySetting,
    gate: guard.bodies ?? createBodyGate(settings),
  };
  mountFirst?.(app, routes, guard, bodies);
  mountRoutes(app, routes, guard, bodies);
  return app;
}
