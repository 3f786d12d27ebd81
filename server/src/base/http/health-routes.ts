import type { Context } from "hono";
import { z } from "zod";

import type { Health, HealthReport } from "../health.ts";
import { route, type Route } from "./route.ts";

const check = z.looseObject({ ok: z.boolean(), reason: z.string().optional() });

/** Body of an unhealthy server; `detail` names each failed part. */
export const unhealthy = z.object({
  ok: z.literal(false),
  detail: z.string(),
  checks: z.record(z.string(), check).optional(),
});

const readiness = z.object({ ok: z.literal(true), checks: z.record(z.string(), check) });

export const RETRY_HEALTH = { "Retry-After": "2" };

/** Responds 503 with the failed parts. */
export const answerUnhealthy = (c: Context, { detail = "", checks }: HealthReport): Response =>
  c.json({ ok: false, detail, checks }, 503, RETRY_HEALTH);

/** Readiness, for load balancers and for launchers that wait for the server. */
export const readyRoute = (health: Health, at: { path: string; aliases?: string[] }): Route =>
  route({
    ...at,
    tag: "System",
    permission: "public",
    publicBecause: "probes have no key; the response holds names of components and figures only",
    method: "GET",
    summary: "Check readiness: the server and all its dependencies",
    out: { 200: readiness, 503: unhealthy },
    async handler({ c }) {
      const report = await health.ready();
      return report.ok ? c.json({ ok: true, checks: report.checks }) : answerUnhealthy(c, report);
    },
  });
