/**
 * Filters the headers of a deployment's response. Below `/d/<deployment>` a deployment shares the platform's origin, so
 * its pages are sandboxed into an opaque origin, and headers that affect the whole origin are dropped. On its own host,
 * a deployment is only kept from cookies of other hosts.
 */
import type { IncomingMessage } from "node:http";

import { HOP_BY_HOP } from "../../base/http/hop-by-hop.ts";
import { ownCookie } from "./own-cookie.ts";
import type { RouteMatch } from "./route-match.ts";

/**
 * Omits `allow-same-origin`: scripts run, but the control API sees the page as a foreign one. Sent in addition to a
 * deployment's own policy: browsers enforce both, and sandboxes combine (CSP3 §6.3.2).
 */
const SANDBOX = "sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads";

/** Types in which no browser runs scripts. Unlisted and missing types are treated as pages. */
const INERT = /^(application\/(json|[\w.-]+\+json|x-ndjson|octet-stream)|text\/(event-stream|plain))\s*(;[^,]*)?$/i;

const OF_THE_WHOLE_ORIGIN = new Set([
  "accept-ch",
  "alt-svc",
  "clear-site-data",
  // aborts the navigation to a sandboxed page
  "cross-origin-opener-policy",
  "cross-origin-opener-policy-report-only",
  "nel",
  "report-to",
  "sec-session-registration",
  "secure-session-registration",
  "service-worker-allowed",
  "set-login",
  "strict-transport-security",
  "use-as-dictionary",
]);

/** Kinds of data that are cleared per origin; cookies are cleared for the whole domain. */
const CLEARED_BY_ORIGIN = ['"cache"', '"storage"', '"executionContexts"'];

/**
 * Returns a deployment's response headers; repeated names remain repeated. A redirect within the agent server gets the
 * deployment's prefix.
 */
export function headersFromDeployment(answered: IncomingMessage, match: RouteMatch): string[] {
  const { prefix } = match;
  const isRedirect = answered.statusCode! >= 300 && answered.statusCode! < 400;
  const headers: string[] = [];
  const types: string[] = [];
  for (const [name, value] of pairs(answered.rawHeaders)) {
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower)) continue;
    if (lower === "content-type") types.push(value.trim());
    const passedValue = passed(lower, value, match);
    if (passedValue === undefined) continue;
    const isInside = lower === "location" && isRedirect && value.startsWith("/") && !value.startsWith("//");
    headers.push(name, isInside ? `${prefix}${value}` : passedValue);
  }
  if (prefix === "") return headers;
  headers.push("X-Content-Type-Options", "nosniff");
  // of several types browsers use the last
  if (types.length !== 1 || !INERT.test(types[0]!)) headers.push("Content-Security-Policy", SANDBOX);
  return headers;
}

/** Returns the headers of a protocol upgrade, which no browser renders. */
export function upgradeHeaders(raw: string[], match: RouteMatch): string[] {
  return pairs(raw).flatMap(([name, value]) => {
    const passedValue = passed(name.toLowerCase(), value, match);
    return passedValue === undefined ? [] : [name, passedValue];
  });
}

/** Returns the value to forward; undefined to drop the header. */
function passed(name: string, value: string, match: RouteMatch): string | undefined {
  if (name === "set-cookie") return ownCookie(value, match);
  // a browser prompts for a password, or sends a stored one, for the whole origin
  if (match.prefix !== "" && name === "www-authenticate" && !/^bearer\b/i.test(value)) return undefined;
  if (match.prefix !== "")
    return OF_THE_WHOLE_ORIGIN.has(name) || name === "x-content-type-options" ? undefined : value;
  if (name !== "clear-site-data") return value;
  const kinds = value.split(",").map((kind) => kind.trim());
  const cleared = kinds.includes('"*"') ? CLEARED_BY_ORIGIN : kinds.filter((kind) => CLEARED_BY_ORIGIN.includes(kind));
  return cleared.length === 0 ? undefined : cleared.join(", ");
}

function pairs(raw: string[]): [name: string, value: string][] {
  const all: [string, string][] = [];
  for (let index = 0; index < raw.length; index += 2) all.push([raw[index]!, raw[index + 1]!]);
  return all;
}
