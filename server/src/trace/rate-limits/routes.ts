import { z } from "zod";

import { v1 } from "../../base/http/aliases.ts";
import { clientIp } from "../../base/http/client-ip.ts";
import { route, type Route } from "../../base/http/route.ts";
import { readKey } from "./callers.ts";
import type { RateLimits } from "./rate-limits.ts";

const row = z
  .object({
    row: z.string(),
    category: z.string(),
    identity: z.enum(["key", "user", "ip"]).describe("What requests are counted by"),
    count: z.int().describe("Number of requests allowed in a window"),
    seconds: z.int().describe("Length of the window"),
    used: z
      .int()
      .nullable()
      .describe("Requests left in the caller's current window; null if the caller is not counted by this"),
    reset_seconds: z.int().nullable().describe("Seconds until the window ends"),
  })
  .meta({ id: "RateLimit" });

const rateLimits = z.object({ mode: z.enum(["on", "off", "dry-run"]), rows: z.array(row) }).meta({ id: "RateLimits" });

/**
 * Route of the table of rate limits with the caller's use. Not in the LangSmith API, which reports limits in
 * headers only.
 */
export function rateLimitRoutes({ rateLimits: limits }: { rateLimits: RateLimits }): Route[] {
  return [
    route({
      tag: "Rate limits",
      method: "GET",
      ...v1("/rate-limits"),
      permission: "workspaces:read",
      summary: "List the active rate limits, and the caller's usage of each",
      out: { 200: rateLimits },
      async handler({ principal, c }) {
        const { headers } = c.req.raw;
        const { kind, userId } = principal.actor;
        const isSession = kind === "session";
        const key = isSession ? undefined : readKey(headers);
        const user = isSession ? (userId ?? "") : (headers.get("x-user-id")?.trim() ?? "");
        const uses = await limits.readUses({
          ip: clientIp(c),
          ...(key !== undefined && { key }),
          ...(user !== "" && { user }),
        });
        const byRow = new Map(uses.map((use) => [use.row, use]));
        const rows = limits.report().map(({ row: name, category, identity, count, seconds }) => {
          const { used = null, reset_seconds = null } = byRow.get(name) ?? {};
          return { row: name, category, identity, count, seconds, used, reset_seconds };
        });
        return c.json({ mode: limits.mode, rows });
      },
    }),
  ];
}
