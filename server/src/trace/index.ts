import type { Route } from "../base/http/route.ts";
import type { TraceDeps } from "./deps.ts";
import { systemRoutes } from "./system/routes.ts";

/** All endpoints of the trace platform. The system's come last: its document describes the others. */
export function traceRoutes(deps: TraceDeps): Route[] {
  const routes: Route[] = [];
  return [...routes, ...systemRoutes(deps, routes)];
}
