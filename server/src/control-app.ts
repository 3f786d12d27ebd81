/** Mounts the control space. */
import type { Hono } from "hono";

import { createApp } from "./app.ts";
import type { Guard } from "./base/http/route.ts";
import type { ControlDeps } from "./control/deps.ts";
import { controlRoutes } from "./control/index.ts";
import { explainMissing } from "./control/not-built.ts";
import { LOCAL, platformOrigins, type Reach } from "./pages.ts";

export const createControlApp = (deps: ControlDeps, guard: Guard, reach: Reach = LOCAL): Hono =>
  createApp(deps, controlRoutes(deps), guard, {
    allows: platformOrigins(deps.settings, reach),
    explainMissing,
    bodySetting: "HEDDLE_CONTROL_MAX_BODY_BYTES",
  });
