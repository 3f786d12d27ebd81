import { randomBytes } from "node:crypto";

import { parse } from "hono/utils/cookie";

import { type BrowserSettings, cookieName, cookieText } from "./session-cookie.ts";

export const DEVICE_COOKIES = ["__Host-heddle_device", "heddle_device"] as const;
const MAX_AGE_SECS = 90 * 24 * 3600;
const TOKEN = /^[0-9a-f]{64}$/;

/**
 * Marks a browser in which somebody has signed in with a password. It lets nobody in: attempts from there are only
 * counted apart from those of others. So it stays when its session ends.
 */
export const deviceCookie = (settings: BrowserSettings, token: string): string =>
  cookieText(settings, cookieName(settings, ...DEVICE_COOKIES), token, MAX_AGE_SECS);

export const newDeviceToken = (): string => randomBytes(32).toString("hex");

/** The token in the request's cookie; undefined for none, or what is none of ours. */
export function deviceTokenIn(settings: BrowserSettings, headers: Headers): string | undefined {
  const name = cookieName(settings, ...DEVICE_COOKIES);
  const token = parse(headers.get("cookie") ?? "", name)[name];
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}
