import type { Context } from "hono";
import { serialize } from "hono/utils/cookie";

import { AppError } from "../../base/errors.ts";
import type { BrowserSettings } from "./session-cookie.ts";

/**
 * Cookie with the error message, read and cleared by the page. Unlike a URL parameter, a foreign link cannot set its
 * text.
 */
const COOKIE = "heddle_sign_in_problem";
const MAX_AGE_SECS = 60;

/**
 * Returns the response of `work`. If it fails and a page asked for it, redirects to that page with the reason: during a
 * provider round trip the caller is a person, who cannot use JSON.
 * @param page path of this origin; undefined for programs, which read the status
 */
export async function redirectOnError(
  c: Context,
  settings: BrowserSettings,
  page: string | undefined,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (page === undefined || !(error instanceof AppError)) throw error;
    const secure = settings.browserUrl?.startsWith("https:") ?? false;
    const reason = serialize(COOKIE, error.message, { path: "/", sameSite: "Lax", secure, maxAge: MAX_AGE_SECS });
    c.header("Set-Cookie", reason, { append: true });
    c.header("Cache-Control", "no-store");
    return c.redirect(page);
  }
}
