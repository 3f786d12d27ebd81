import type { Context, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

import { ConfigError, type Options, type OptionSpec } from "../config/options.ts";
import { isLoopbackOrigin } from "./browser-guard.ts";

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
  "x-discarded-interrupts",
];

export const crossOriginOptions = {
  corsOrigins: {
    env: ["HEDDLE_CORS_ORIGINS"],
    default: [],
    description:
      "Origins whose pages may call this server, with commas between, such as https://app.example; * for all, on " +
      "servers that need a key. Never with cookies: a page has to send a key. Pages of loopback origins may call an " +
      "agent server that listens on loopback without being named.",
    parse: parseOrigins,
  } satisfies OptionSpec<string[]> as OptionSpec<readonly string[]>,
  allowedHosts: {
    env: ["HEDDLE_ALLOWED_HOSTS", "HEDDLE_CONSOLE_HOSTS"],
    default: [],
    description:
      "Names by which a server that needs no key is reached besides loopback and addresses, with commas between: " +
      "devbox.example. Requests for other names get 403 (DNS rebinding).",
    parse: (text) =>
      text
        .split(",")
        .map((name) => name.trim().toLowerCase())
        .filter((name) => name !== ""),
  } satisfies OptionSpec<string[]> as OptionSpec<readonly string[]>,
};

export type CrossOriginSettings = Options<typeof crossOriginOptions>;

export interface OriginRuleOptions extends Pick<CrossOriginSettings, "corsOrigins"> {
  corsRules?: CrossOriginRules | undefined;
  /** Whether requests without a key are served: there `*` counts as loopback only. */
  keyless: boolean;
  /** Whether pages that this machine serves may call without being named. */
  allowLoopback: boolean;
}

/** Decides whether pages of an origin may call: the one rule behind the CORS headers and the browser guard. */
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
 * Answers preflights and lets scripts of allowed origins read answers. Cookies are never allowed together with an
 * origin that is not named, which keeps the CSRF header a proof.
 */
export function allowOrigins(
  allows: (origin: string) => boolean,
  corsRules: CrossOriginRules = {},
  /** Paths that pages of any origin may call whatever the rule says, because the path is the credential. */
  isOpen: (path: string) => boolean = () => false,
  /** Whether headers that middleware sets before there is an answer are put on it, whoever makes it. */
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
  // The official one makes an answer ahead of the handler, so that Hono copies each real one onto it and the body goes
  // through a stream: 0.3 ms and, where its end is not there at once, a timer. Here the headers come afterwards.
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
