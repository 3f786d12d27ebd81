/** URL under which a caller reaches this server, through the proxies that the operator trusts. */
import type { Context } from "hono";

import { AppError } from "../errors.ts";
import { isTrustedPeer } from "./client-ip.ts";

export interface OuterUrl {
  /** `http:` or `https:`; undefined if neither the request nor a proxy names it, as behind a proxy that sends no header. */
  protocol: string | undefined;
  /** Host with an optional port. */
  host: string;
  /** Path below which a proxy shows this server, without a trailing slash; usually empty. */
  prefix: string;
}

const PREFIX = /^(?:\/[\w.~-]+)+$/;

const HOST = /^[\w.-]+(:\d+)?$|^\[[\da-fA-F:.]+\](:\d+)?$/;

/**
 * Reads `X-Forwarded-Proto`, `-Host` and `-Prefix` of a trusted proxy; those of other peers may be forged.
 * @throws AppError 400 for a host that is none
 */
export function outerUrl(c: Context): OuterUrl {
  const isProxied = isTrustedPeer(c);
  const forwarded = (name: string) => (isProxied ? c.req.header(name)?.split(",")[0]?.trim() || undefined : undefined);
  const proto = forwarded("x-forwarded-proto")?.toLowerCase();
  const prefix = forwarded("x-forwarded-prefix")?.replace(/\/+$/, "") ?? "";
  const url = new URL(c.req.url);
  const host = forwarded("x-forwarded-host") ?? c.req.header("host") ?? url.host;
  if (!HOST.test(host)) throw new AppError(400, "The Host header is invalid.");
  return {
    protocol: proto === "https" || proto === "http" ? `${proto}:` : isProxied ? undefined : url.protocol,
    host,
    prefix: PREFIX.test(prefix) ? prefix : "",
  };
}
