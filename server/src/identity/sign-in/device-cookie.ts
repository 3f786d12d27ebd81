import { randomBytes } from "node:crypto";

import { parse } from "hono/utils/cookie";

import { type BrowserSettings, cookieName, cookieText } from "./session-cookie.ts";

export const DEVICE_COOKIES = ["__Host-heddle_device", "heddle_device"] as const;
const MAX_AGE_SECS = 90 * 24 * 3600;
const TOKEN = /^[0-9a-f]{64}$/;

/**
 * Marks a browser that has signed in with a password. It grants no access: attempts with it are only counted
 * separately. It therefore outlives the session.
 */
export const deviceCookie = (settings: BrowserSettings, token: string): string =>
  cookieText(settings, cookieName(settings, ...DEVICE_COOKIES), token, MAX_AGE_SECS);

export const newDeviceToken = (): string => randomBytes(32).toString("hex");

/** Returns the token from the request's cookie; undefined if missing or malformed. */
export function deviceTokenIn(settings: BrowserSettings, headers: Headers): string | undefined {
  const name = cookieName(settings, ...DEVICE_COOKIES);
  const token = parse(headers.get("cookie") ?? "", name)[name];
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}
