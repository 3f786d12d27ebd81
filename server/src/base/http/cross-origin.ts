import type { Context, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

import { ConfigError, type Options, type OptionSpec } from "../config/options.ts";

/** What scripts of other origins may read of an answer, besides what they always may. */
const EXPOSED_HEADERS = [
  "content-location",
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
  return cors({
    origin,
    exposeHeaders,
    allowMethods,
    ...(headers && !headers.includes("*") && { allowHeaders: headers }),
    ...(credentials && { credentials }),
    ...(maxAge !== undefined && { maxAge }),
  });
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
