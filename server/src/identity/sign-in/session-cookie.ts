import { parse, serialize } from "hono/utils/cookie";

import { forbidden } from "../../base/errors.ts";
import { joinSessionToken, looksLikeCsrfToken, looksLikeSessionToken } from "./session-token.ts";

/**
 * The session in a browser. `__Host-`: only over https, only from this very host, for all paths; nobody on a
 * neighbouring subdomain can plant one. Browsers refuse that prefix on plain http, where the name is bare.
 * HttpOnly keeps it from scripts, SameSite=Lax from requests that other sites make, top-level navigation apart.
 */
const SECURE_NAME = "__Host-heddle_session";
const PLAIN_NAME = "heddle_session";
export const SESSION_COOKIES = [SECURE_NAME, PLAIN_NAME];

/**
 * Carries the CSRF token of a session, which pages of the console keep in their origin's storage. No page of another
 * origin or port can read it, or send this header without a preflight.
 */
export const CSRF_HEADER = "x-heddle-csrf";

export interface BrowserSettings {
  publicUrl?: string | undefined;
}

const isHttps = ({ publicUrl }: BrowserSettings): boolean => publicUrl?.startsWith("https:") ?? false;

export function cookieName(settings: BrowserSettings, secure: string, plain: string): string {
  return isHttps(settings) ? secure : plain;
}

export function cookieText(settings: BrowserSettings, name: string, value: string, maxAgeSecs: number): string {
  return serialize(name, value, {
    path: "/",
    httpOnly: true,
    sameSite: "Lax",
    secure: isHttps(settings),
    maxAge: maxAgeSecs,
  });
}

/** For `Set-Cookie`; an empty token takes the cookie away. */
export function sessionCookie(settings: BrowserSettings, token: string, maxAgeSecs: number): string {
  return cookieText(settings, cookieName(settings, SECURE_NAME, PLAIN_NAME), token, token === "" ? 0 : maxAgeSecs);
}

/** Reads the session's cookie. Over https the bare name counts for nothing, because it can be planted. */
export function readSessionCookie(settings: BrowserSettings, headers: Headers): string | undefined {
  const cookie = headers.get("cookie");
  if (cookie === null) return undefined;
  const name = cookieName(settings, SECURE_NAME, PLAIN_NAME);
  return parse(cookie, name)[name] || undefined;
}

/** Joins the cookie and the header to the token of a browser's session; undefined unless both are well-formed. */
export function readBrowserSession(settings: BrowserSettings, headers: Headers): string | undefined {
  const cookie = readSessionCookie(settings, headers);
  const csrfToken = headers.get(CSRF_HEADER);
  if (cookie === undefined || csrfToken === null || !looksLikeCsrfToken(csrfToken)) return undefined;
  const token = joinSessionToken(cookie, csrfToken);
  return looksLikeSessionToken(token) ? token : undefined;
}

/**
 * A browser adds cookies to what any site makes it send, so a request that a cookie vouches for and that changes
 * something must come from a page of ours. Three fences, because each has browsers or proxies that lack it:
 * `Sec-Fetch-Site`, `Origin`, and a header that a page of another origin may send only after a preflight, which
 * this server never allows together with cookies. 403 when one of them does not hold.
 */
export function refuseForgery(settings: BrowserSettings, method: string, headers: Headers): void {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") throw forbidden("Forbidden: another site sent this.");
  const origin = headers.get("origin");
  if (origin !== null && !isOwnOrigin(settings, origin, headers.get("host"))) {
    throw forbidden(`Forbidden: a page of another origin sent this.`);
  }
  if (!headers.get(CSRF_HEADER)) throw forbidden(`Forbidden: a request with a cookie needs the header ${CSRF_HEADER}.`);
}

function isOwnOrigin({ publicUrl }: BrowserSettings, origin: string, host: string | null): boolean {
  if (publicUrl !== undefined) return origin === new URL(publicUrl).origin;
  return host !== null && origin === `http://${host}`;
}
