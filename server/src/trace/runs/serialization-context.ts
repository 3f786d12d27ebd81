import type { Context } from "hono";

import type { TraceSettings } from "../settings.ts";
import type { SerializationContext } from "./run-fields.ts";
import type { RunScope } from "./run-scope.ts";

export function serializationContext(settings: TraceSettings, scope: RunScope, c: Context): SerializationContext {
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
