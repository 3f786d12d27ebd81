import type { Context } from "hono";
import { getConnInfo } from "@hono/node-server/conninfo";

/** The address of whoever sent the request. Forwarded addresses count only from trusted proxies. */
export function clientIp(c: Context): string {
  const known: unknown = c.get("clientIp");
  return typeof known === "string" ? known : remoteAddress(c);
}

/** The other end of the socket; a request that came without one (a test) is from loopback. */
export function remoteAddress(c: Context): string {
  try {
    return getConnInfo(c).remote.address ?? "127.0.0.1";
  } catch {
    return "127.0.0.1";
  }
}
