/** Mounts the trace space. */
import type { Hono } from "hono";

import { createApp } from "./app.ts";
import type { Guard } from "./base/http/route.ts";
import { LOCAL, openToPages, platformOrigins, type Reach } from "./pages.ts";
import type { TraceDeps } from "./trace/deps.ts";
import { traceRoutes } from "./trace/index.ts";
import type { OwnApp } from "./trace/mcp/platform-api.ts";
import { challengeMcp } from "./trace/mcp/resource-metadata.ts";
import { explainMissingTrace } from "./trace/not-built.ts";
import { limitRequests } from "./trace/rate-limits/limit-requests.ts";
import { BODY_SETTING } from "./trace/settings.ts";

export function createTraceApp(deps: TraceDeps, guard: Guard, reach: Reach = LOCAL): Hono {
  const { rateLimits, log } = deps;
  const allows = platformOrigins(deps.settings, reach);
  const gate = rateLimits.mode === "off" ? undefined : limitRequests(rateLimits, guard.authenticator, log);
  const own: OwnApp = {};
  const app = createApp(deps, traceRoutes(deps, guard.audit, own), guard, {
    allows,
    arrival: challengeMcp(deps.settings),
    gate,
    bodySetting: BODY_SETTING,
    errors: deps.settings.errors,
    isOpen: openToPages(reach),
    explainMissing: explainMissingTrace,
    strict: false,
  });
  own.fetch = app.fetch;
  return app;
}
