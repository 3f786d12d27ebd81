/**
 * Control characters in paths. No path of ours contains one, and programs disagree about them: for one the path ends at
 * an encoded line feed, for the next it does not.
 */
import type { MiddlewareHandler } from "hono";

import { AppError } from "../errors.ts";

const CONTROL = /[\p{Cc}\u2028\u2029]/u;

export const CONTROL_CHARACTER = "The path contains a control character.";

/** @param target a request target (RFC 9112 §3.2) or a URL, as it was received: not decoded, bytes as Latin-1 */
export function hasControlCharacter(target: string): boolean {
  const path = target.split("?", 1)[0]!;
  const bytes = path.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return CONTROL.test(bytes) && CONTROL.test(Buffer.from(bytes, "latin1").toString());
}

export const rejectControlCharacters: MiddlewareHandler = (c, next) => {
  if (hasControlCharacter(c.req.raw.url)) throw new AppError(400, CONTROL_CHARACTER);
  return next();
};
