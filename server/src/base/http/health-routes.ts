import type { Context } from "hono";
import { z } from "zod";

import { type Health, type HealthReport, LIVE } from "../health.ts";
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

type At = (path: `/${string}`) => { path: string; aliases?: string[] };

/**
 * Readiness, for load balancers and for launchers that wait for the server, and liveness of the process alone.
 * @param at declares a path with the prefixes of a space
 */
export const probeRoutes = (health: Health, at: At = (path) => ({ path })): Route[] => [
  readyRoute(health, at("/ready")),
  readyRoute(health, at("/readyz")),
  route({
    ...at("/livez"),
    tag: "System",
    permission: "public",
    publicBecause: "probes have no key; the response says only that the process answers",
    method: "GET",
    summary: "Check liveness of the process: its event loop answers, whatever the state of its dependencies",
    out: { 200: readiness },
    handler: ({ c }) => c.json(LIVE),
  }),
];

const readyRoute = (health: Health, at: ReturnType<At>): Route =>
  route({
    ...at,
    tag: "System",
    permission: "public",
    publicBecause: "probes have no key; the response holds names of components and metrics only",
    method: "GET",
    summary: "Check readiness: the server and all its dependencies",
    out: { 200: readiness, 503: unhealthy },
    async handler({ c }) {
      const report = await health.ready();
      return report.ok ? c.json({ ok: true, checks: report.checks }) : answerUnhealthy(c, report);
    },
  });
