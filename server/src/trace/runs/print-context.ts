import type { Context } from "hono";

import type { TraceSettings } from "../settings.ts";
import type { PrintContext } from "./run-fields.ts";
import type { RunScope } from "./run-scope.ts";

export function printContext(settings: TraceSettings, scope: RunScope, c: Context): PrintContext {
  const days = { longlived: settings.longlivedDays, shortlived: settings.shortlivedDays };
  const origin = settings.publicUrl?.replace(/\/$/, "") ?? new URL(c.req.url).origin;
  return {
    tenantId: scope.tenantId,
    apiBase: `${origin}/api/v1`,
    consoleUrl: settings.consoleUrl.replace(/\/$/, ""),
    defaultTier: settings.traceTier,
    retentionDays: (tier) => (days[tier] === 0 ? undefined : days[tier]),
  };
}
