import type { Context } from "hono";
import { serialize } from "hono/utils/cookie";

import { AppError } from "../../base/errors.ts";
import type { BrowserSettings } from "./session-cookie.ts";

/** Read, shown and taken away by the page; a link from elsewhere cannot put words there, as it could into an address. */
const COOKIE = "heddle_sign_in_problem";
const MAX_AGE_SECS = 60;

/**
 * The answer of `work`, or, where it fails and a page has asked for that, the way back to this page with the reason:
 * on the way to and from a provider there is a person in front, who can do nothing with JSON.
 * @param page a path of this origin; undefined: programs, which are told by the status
 */
export async function orBackTo(
  c: Context,
  settings: BrowserSettings,
  page: string | undefined,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (page === undefined || !(error instanceof AppError)) throw error;
    const secure = settings.publicUrl?.startsWith("https:") ?? false;
    const reason = serialize(COOKIE, error.message, { path: "/", sameSite: "Lax", secure, maxAge: MAX_AGE_SECS });
    c.header("Set-Cookie", reason, { append: true });
    c.header("Cache-Control", "no-store");
    return c.redirect(page);
  }
}
