import { z } from "zod";

import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";

const shared = { tag: "System", permission: "public" } as const;

export function systemRoutes(_deps: TraceDeps, _others: Route[]): Route[] {
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
  ];
}
