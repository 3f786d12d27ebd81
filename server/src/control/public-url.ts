import type { Context } from "hono";

import type { ControlDeps } from "./deps.ts";

/**
 * Returns our base URL as callers reach it, with the prefix of this request. Uses the setting, else the URL that
 * the caller used, because the links are for that caller.
 */
export function baseUrl(deps: Pick<ControlDeps, "settings">, c: Context): string {
  const prefix = c.req.path.startsWith("/api-host/") ? "/api-host" : "";
  const configured = deps.settings.controlPublicUrl?.replace(/\/+$/, "");
  return `${configured ?? new URL(c.req.url).origin}${prefix}`;
}

/** Returns a deployment's URL, the same for every caller. */
export function deploymentUrl(deps: Pick<ControlDeps, "settings" | "internalUrl">, slug: string): string {
  const base = deps.settings.controlPublicUrl?.replace(/\/+$/, "") ?? deps.internalUrl;
  const { gatewayDomain: domain } = deps.settings;
  if (domain === undefined) return `${base}/d/${slug}`;
  const { protocol, port } = new URL(base);
  return `${protocol}//${slug}.${domain}${port === "" ? "" : `:${port}`}`;
}
