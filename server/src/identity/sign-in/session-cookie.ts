import { parse, serialize } from "hono/utils/cookie";

import { forbidden } from "../../base/errors.ts";
import { joinSessionToken, looksLikeCsrfToken, looksLikeSessionToken } from "./session-token.ts";

/**
 * Session cookie. `__Host-`: https only, this host only, all paths, so that a neighbouring subdomain cannot plant one.
 * Browsers reject the prefix on plain http, where the bare name is used. HttpOnly hides it from scripts; SameSite=Lax
 * withholds it from requests of other sites, except top-level navigation.
 */
const SECURE_NAME = "__Host-heddle_session";
const PLAIN_NAME = "heddle_session";
export const SESSION_COOKIES = [SECURE_NAME, PLAIN_NAME];

/**
 * Header with a session's CSRF token, which the console's pages keep in their origin's storage. No page of another
 * origin or port can read it, or send this header without a preflight.
 */
export const CSRF_HEADER = "x-heddle-csrf";

export interface BrowserSettings {
  browserUrl?: string | undefined;
}

const isHttps = ({ browserUrl }: BrowserSettings): boolean => browserUrl?.startsWith("https:") ?? false;

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

/** Returns the `Set-Cookie` value; an empty token deletes the cookie. */
export function sessionCookie(settings: BrowserSettings, token: string, maxAgeSecs: number): string {
  return cookieText(settings, cookieName(settings, SECURE_NAME, PLAIN_NAME), token, token === "" ? 0 : maxAgeSecs);
}

/** Reads the session cookie. Over https the bare name is ignored, because it can be planted. */
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
 * Rejects cross-site request forgery with 403. Browsers attach cookies to requests of any site, so a state-changing
 * request authenticated by a cookie must come from a page of ours. Three independent checks, because each is missing in
 * some browsers or proxies: `Sec-Fetch-Site`, `Origin`, and a header that pages of another origin may send only after a
 * preflight, which this server never allows together with cookies.
 */
export function rejectForgery(settings: BrowserSettings, method: string, headers: Headers): void {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none")
    throw forbidden("Forbidden: the request comes from another site.");
  const origin = headers.get("origin");
  if (origin !== null && !isOwnOrigin(settings, origin, headers.get("host"))) {
    throw forbidden(
      "Forbidden: the request comes from a page of another origin. If it is the console's, set HEDDLE_PUBLIC_URL to " +
        "its address followed by /api/trace.",
    );
  }
  if (!headers.get(CSRF_HEADER))
    throw forbidden(`Forbidden: a request with a session cookie requires the header ${CSRF_HEADER}.`);
}

function isOwnOrigin({ browserUrl }: BrowserSettings, origin: string, host: string | null): boolean {
  if (browserUrl !== undefined) return origin === new URL(browserUrl).origin;
  return host !== null && origin === `http://${host}`;
}
