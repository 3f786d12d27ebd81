import type { Context, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

import { ConfigError, type Options, type OptionSpec, splitList } from "../config/options.ts";
import { isLoopbackOrigin } from "./browser-guard.ts";

/** Response headers that scripts of other origins may read, besides the safelisted ones. */
const EXPOSED_HEADERS = [
  "content-location",
  "idempotent-replayed",
  "location",
  "mcp-session-id",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "www-authenticate",
  "x-pagination-total",
  "x-pagination-next",
  "x-discarded-interrupts",
];

export const crossOriginOptions = {
  corsOrigins: {
    env: ["HEDDLE_CORS_ORIGINS"],
    default: [],
    description:
      "Origins whose pages may call this server, separated by commas, such as https://app.example; * allows all " +
      "origins on servers that require a key. Cookies are never accepted: a page must send a key. Pages of " +
      "loopback origins may always call an agent server that listens on loopback.",
    parse: parseOrigins,
  } satisfies OptionSpec<string[]> as OptionSpec<readonly string[]>,
  allowedHosts: {
    env: ["HEDDLE_ALLOWED_HOSTS", "HEDDLE_CONSOLE_HOSTS"],
    default: [],
    description:
      "Additional host names, separated by commas, of a server that requires no key, such as devbox.example. " +
      "Requests for names other than these, loopback names and addresses get 403 (against DNS rebinding). " +
      "HEDDLE_CONSOLE_HOSTS is deprecated and works until 0.9.",
    parse: (text) => splitList(text).map((name) => name.toLowerCase()),
  } satisfies OptionSpec<string[]> as OptionSpec<readonly string[]>,
};

export type CrossOriginSettings = Options<typeof crossOriginOptions>;

export interface OriginRuleOptions extends Pick<CrossOriginSettings, "corsOrigins"> {
  corsRules?: CrossOriginRules | undefined;
  /** Whether requests without a key are served: there `*` covers loopback only. */
  keyless: boolean;
  /** Whether pages served by this machine may call without being listed. */
  allowLoopback: boolean;
}

/** Decides whether pages of an origin may call: the shared rule of the CORS headers and the browser guard. */
export function originRule({ corsOrigins, corsRules, keyless, allowLoopback }: OriginRuleOptions) {
  const pattern = corsRules?.pattern;
  const origins = corsRules?.origins ?? corsOrigins;
  const allowsAll = !keyless && !pattern && origins.includes("*");
  return (origin: string): boolean =>
    allowsAll ||
    (pattern ? pattern.test(origin) : origins.includes(origin)) ||
    (allowLoopback && isLoopbackOrigin(origin));
}

/**
 * Answers preflights and lets scripts of allowed origins read responses. Cookies are never allowed together with a
 * wildcard origin, so that the CSRF header remains a proof.
 */
export function allowOrigins(
  allows: (origin: string) => boolean,
  corsRules: CrossOriginRules = {},
  /** Paths open to pages of any origin, because the path is the credential. */
  isOpen: (path: string) => boolean = () => false,
  /** Whether to keep headers that middleware sets before the response exists. */
  keepsEarlyHeaders = false,
): MiddlewareHandler {
  const { methods, headers, expose = [], credentials, maxAge } = corsRules;
  const allowMethods = methods ?? ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH"];
  const origin = (asking: string, c: Context): string | null => {
    if (isOpen(c.req.path)) return "*";
    return asking !== "" && allows(asking) ? asking : null;
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
  // The official middleware creates a response ahead of the handler, so that Hono copies each real one onto it and
  // streams the body: 0.3 ms and, when the end is not available at once, a timer. Here the headers are added
  // afterwards.
  const exposed = exposeHeaders.join(",");
  return async (c, next) => {
    if (c.req.method === "OPTIONS") return official(c, next);
    await next();
    const answered = changeableHeaders(c);
    const allowed = origin(c.req.header("origin") ?? "", c);
    if (allowed) answered.set("Access-Control-Allow-Origin", allowed);
    if (credentials) answered.set("Access-Control-Allow-Credentials", "true");
    answered.set("Access-Control-Expose-Headers", exposed);
    if (allowed !== "*") answered.append("Vary", "Origin");
  };
}

/** Returns mutable headers; those of a response from `fetch` are immutable. */
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

/** CORS rules of a project, beyond the setting. */
export interface CrossOriginRules {
  origins?: readonly string[] | undefined;
  /** Takes precedence over `origins`. */
  pattern?: RegExp | undefined;
  methods?: string[] | undefined;
  /** Headers that pages may send; when absent, any that they request. */
  headers?: string[] | undefined;
  expose?: string[] | undefined;
  /** Whether cookies are allowed; never together with every origin. */
  credentials?: boolean | undefined;
  /** Seconds a preflight may be cached. */
  maxAge?: number | undefined;
}

/** Parses origins separated by commas, or `*`. */
export function parseOrigins(text: string): string[] {
  const origins = splitList(text);
  for (const origin of origins) {
    const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
    if (origin !== "*" && !isOrigin)
      throw new ConfigError(`must be origins such as https://app.example, not "${origin}"`);
  }
  return origins;
}
