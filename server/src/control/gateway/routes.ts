import { z } from "zod";

import { frontRoutes } from "../../base/http/front-routes.ts";
import { answerUnhealthy, probeRoutes, unhealthy } from "../../base/http/health-routes.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { Health } from "../../base/health.ts";
import type { Metrics } from "../../base/metrics.ts";
import { readVersion } from "../../base/version.ts";

/** Endpoints of a standalone gateway: health and metrics. */
export function gatewayRoutes({ health, metrics }: { health: Health; metrics: Metrics }): Route[] {
  const front = frontRoutes({ version: readVersion(), registry: metrics.registry, document: () => ({}) });
  return [
    route({
      tag: "System",
      permission: "public",
      publicBecause: "probes have no key",
      path: "/ok",
      method: "GET",
      summary: "Check liveness: fails when a component has failed for longer than the grace period",
      out: { 200: z.object({ ok: z.literal(true) }), 503: unhealthy },
      handler({ c }) {
        const alive = health.alive();
        return alive.ok ? c.json({ ok: true }) : answerUnhealthy(c, alive);
      },
    }),
    ...probeRoutes(health),
    ...front.filter(({ path }) => path === "/metrics"),
  ];
}
