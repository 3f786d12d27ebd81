import { parse } from "hono/utils/cookie";
import { z } from "zod";

import type { Flow } from "./openid-provider.ts";
import { type BrowserSettings, cookieName, cookieText } from "./session-cookie.ts";

export const FLOW_COOKIES = ["__Host-heddle_oidc", "heddle_oidc"] as const;
const MAX_AGE_SECS = 600;

const flowState = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  return_to: z.string(),
  error_to: z.string().optional(),
});

/**
 * Stores the state of one attempt in the browser that began it. A callback from another browser is rejected, and
 * starting an attempt needs no row. The browser may read all of it; third parties must not.
 */
export function flowCookie(settings: BrowserSettings, flow: Flow, returnTo: string, errorTo?: string): string {
  const value = Buffer.from(JSON.stringify({ ...flow, return_to: returnTo, error_to: errorTo })).toString("base64url");
  return cookieText(settings, cookieName(settings, ...FLOW_COOKIES), value, MAX_AGE_SECS);
}

export const endOfFlowCookie = (settings: BrowserSettings): string =>
  cookieText(settings, cookieName(settings, ...FLOW_COOKIES), "", 0);

interface OpenDay {
  flow: Flow;
  returnTo: string;
  errorTo: string | undefined;
}

export function readFlow(settings: BrowserSettings, headers: Headers): OpenDay | undefined {
  const name = cookieName(settings, ...FLOW_COOKIES);
  const value = parse(headers.get("cookie") ?? "", name)[name];
  if (!value) return undefined;
  try {
    const begun = flowState.parse(JSON.parse(Buffer.from(value, "base64url").toString()));
    const { return_to: returnTo, error_to: errorTo, ...flow } = begun;
    return { flow, returnTo, errorTo };
  } catch {
    return undefined;
  }
}
