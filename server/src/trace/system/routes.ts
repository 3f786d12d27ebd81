import { z } from "zod";

import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";

const shared = { tag: "System", permission: "public" } as const;

export function systemRoutes({ metrics: { registry } }: TraceDeps, _others: Route[]): Route[] {
  return [
    route({
      ...shared,
      publicBecause: "a probe knows no key",
      method: "GET",
      path: "/ok",
      summary: "Health",
      out: { 200: z.object({ ok: z.boolean() }) },
      handler: ({ c }) => c.json({ ok: true }),
    }),
    route({
      ...shared,
      publicBecause: "a scraper knows no key; figures only, no names and no contents",
      method: "GET",
      path: "/metrics",
      summary: "Figures for monitoring",
      out: { 200: "text/plain" },
      handler: async ({ c }) => c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType }),
    }),
  ];
}
