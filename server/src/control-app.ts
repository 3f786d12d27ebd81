/** Mounts the control space, and the part of it that a standalone gateway serves. */
import type { Hono } from "hono";

import { createApp } from "./app.ts";
import type { Guard } from "./base/http/route.ts";
import type { Log } from "./base/log.ts";
import type { ControlDeps } from "./control/deps.ts";
import type { GatewayDeps } from "./control/gateway/open-gateway.ts";
import type { GatewayRoleSettings } from "./control/gateway/role-settings.ts";
import { controlRoutes, gatewayOnlyRoutes } from "./control/index.ts";
import { explainMissing } from "./control/not-built.ts";
import { LOCAL, platformOrigins, type Reach } from "./pages.ts";

const BODY_SETTING = "HEDDLE_CONTROL_MAX_BODY_BYTES";

export const createControlApp = (deps: ControlDeps, guard: Guard, reach: Reach = LOCAL): Hono =>
  createApp(deps, controlRoutes(deps), guard, {
    allows: platformOrigins(deps.settings, reach),
    explainMissing,
    bodySetting: BODY_SETTING,
    errors: deps.settings.errors,
  });

/** A standalone gateway serves only health and metrics besides deployments. */
export function createGatewayApp(
  { metrics, health, settings, log }: GatewayDeps & { log: Log; settings: GatewayRoleSettings },
  guard: Guard,
  reach: Reach,
): Hono {
  const space = {
    log,
    metrics,
    health: { note: () => {} },
    telemetry: undefined,
    settings: { ...settings, maxBodyBytes: 0 },
  };
  const routes = gatewayOnlyRoutes({ health, metrics });
  const isOurs = (path: string) => routes.some((route) => route.path === path);
  return createApp(space, routes, guard, {
    allows: platformOrigins(settings, reach),
    explainMissing: (path) =>
      isOurs(path) ? undefined : "A gateway serves deployments below /d/NAME only. The API is at the control plane.",
    bodySetting: BODY_SETTING,
    errors: settings.errors,
  });
}
