import type { Context } from "hono";

import type { TraceSettings } from "../settings.ts";
import type { SerializationContext } from "./run-fields.ts";
import type { RunScope } from "./run-scope.ts";

export const serializationContext = (settings: TraceSettings, scope: RunScope, c: Context): SerializationContext =>
  contextOf(settings, scope, settings.publicUrl ?? new URL(c.req.url).origin);

/** Context of background work. @param origin base of links */
export function contextOf(settings: TraceSettings, scope: RunScope, origin: string): SerializationContext {
  const days = { longlived: settings.longlivedDays, shortlived: settings.shortlivedDays };
  return {
    tenantId: scope.tenantId,
    apiBase: `${origin.replace(/\/$/, "")}/api/v1`,
    consoleUrl: settings.consoleUrl.replace(/\/$/, ""),
    defaultTier: settings.traceTier,
    retentionDays: (tier) => (days[tier] === 0 ? undefined : days[tier]),
  };
}
