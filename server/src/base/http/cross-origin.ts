import type { Context, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

import { ConfigError, type Options, type OptionSpec } from "../config/options.ts";

/** What scripts of other origins may read of an answer, besides what they always may. */
const EXPOSED_HEADERS = [
  "content-location",
  "idempotent-replayed",
  "location",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "x-pagination-total",
  "x-pagination-next",
];

export const crossOriginOptions = {
  corsOrigins: {
    env: ["HEDDLE_CORS_ORIGINS"],
    default: ["*"],
    description:
      "Origins whose pages may call this server, with commas between, such as https://app.example; * for all. " +
      "Never with cookies: a page has to send a key.",
    parse: parseOrigins,
  } satisfies OptionSpec<string[]> as OptionSpec<readonly string[]>,
};

export type CrossOriginSettings = Options<typeof crossOriginOptions>;

/**
 * Pages of other origins may call, as the SDKs in browsers do, but never with cookies: credentials are not allowed,
 * and that is what keeps `*` harmless and the CSRF header a proof.
 */
export function allowOrigins(
  { corsOrigins, corsRules = {} }: CrossOriginSettings & { corsRules?: CrossOriginRules | undefined },
  /** Paths that pages of any origin may call whatever the setting says, because the path is the credential. */
  isOpen: (path: string) => boolean = () => false,
  /** Whether headers that somebody sets before there is an answer are put on it, whoever makes it. */
  keepsEarlyHeaders = false,
): MiddlewareHandler {
  const { pattern, methods, headers, expose = [], credentials, maxAge } = corsRules;
  const origins = corsRules.origins ?? corsOrigins;
  const allowMethods = methods ?? ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH"];
  const isAllowed = pattern ? (asking: string) => pattern.test(asking) : (asking: string) => origins.includes(asking);
  const origin =
    !pattern && origins.includes("*")
      ? "*"
      : (asking: string, c: Context) => {
          if (isOpen(c.req.path)) return "*";
          return isAllowed(asking) ? asking : null;
        };
  const exposeHeaders = [...new Set([...EXPOSED_HEADERS, ...expose.map((name) => name.toLowerCase())])];
  const official = cors({
    origin,
    exposeHeaders,
    allowMethods,
    ...(headers && !headers.includes("*") && { allowHeaders: headers }),
    ...(credentials && { credentials }),
    ...(maxAge !== undefined && { maxAge }),
  });
  if (keepsEarlyHeaders) return official;
  // The official one makes an answer ahead of the handler, so that Hono copies each real one onto it and the body goes
  // through a stream: 0.3 ms and, where its end is not there at once, a timer. Here the headers come afterwards.
  const exposed = exposeHeaders.join(",");
  return async (c, next) => {
    if (c.req.method === "OPTIONS") return official(c, next);
    await next();
    const answered = changeableHeaders(c);
    const allowed = typeof origin === "string" ? origin : origin(c.req.header("origin") ?? "", c);
    if (allowed) answered.set("Access-Control-Allow-Origin", allowed);
    if (credentials) answered.set("Access-Control-Allow-Credentials", "true");
    answered.set("Access-Control-Expose-Headers", exposed);
    if (origin !== "*") answered.append("Vary", "Origin");
  };
}

/** Those of an answer that `fetch` has made cannot be changed. */
function changeableHeaders(c: Context): Headers {
  try {
    c.res.headers.delete("access-control-allow-origin");
  } catch {
    const { body, status, statusText, headers } = c.res;
    c.res = undefined;
    c.res = new Response(body, { status, statusText, headers: new Headers(headers) });
  }
  return c.res.headers;
}

/** What a project says beyond the setting. */
export interface CrossOriginRules {
  origins?: readonly string[] | undefined;
  /** Wins over `origins`. */
  pattern?: RegExp | undefined;
  methods?: string[] | undefined;
  /** What pages may send; what they ask for when absent. */
  headers?: string[] | undefined;
  expose?: string[] | undefined;
  /** Cookies; never together with every origin. */
  credentials?: boolean | undefined;
  /** Seconds. */
  maxAge?: number | undefined;
}

function parseOrigins(text: string): string[] {
  const origins = text
    .split(",")
    .map((origin) => origin.trim())
    .filter((origin) => origin !== "");
  for (const origin of origins) {
    const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
    if (origin !== "*" && !isOrigin)
      throw new ConfigError(`must be origins such as https://app.example, not "${origin}"`);
  }
  return origins;
}
