/**
 * Decides which web pages may call a server. A browser sends headers that a page cannot forge: `Origin`,
 * `Sec-Fetch-Site` (Fetch standard, W3C Fetch Metadata) and, for requests without either, `Referer`. Other programs
 * send none of them and pass. The guard runs before routing, on every port, for requests and WebSocket upgrades alike.
 *
 * A keyless server rejects two more things, because there the address alone is the credential: a `Host` that is a
 * foreign name (DNS rebinding makes another site's page look like ours), and forwarding headers that name a client on
 * another machine (a proxy has made the server reachable).
 */
import { isIP } from "node:net";

import { normalizeAddress } from "./client-ip.ts";
import type { ErrorFamily, ErrorMode } from "./errors.ts";

export interface BrowserPolicy {
  /** Format of the rejections for a client. Default: that of the trace platform and the control plane. */
  errors?: (userAgent: string | undefined) => ErrorMode | ErrorFamily;
  /** Whether requests without a key are served. */
  keyless: boolean;
  /** Names other than loopback under which a keyless server may be reached, in lower case. */
  hosts: ReadonlySet<string>;
  /** Whether any IP address is accepted as the server's name: for a server that other machines reach on purpose. */
  anyAddress?: boolean;
  /**
   * Origins allowed to call, in addition to the server's own. Evaluated at each request, because a project may be reloaded.
   */
  allows: (origin: string) => boolean;
  /** Whether responses may be shown in frames; their content security policy names the pages that may. */
  isFramed?: boolean;
  /** Paths that are their own credential and open to every page. */
  isOpen?: (path: string) => boolean;
  /**
   * Requests proxied, with their headers, to a server that applies its own policy. Only their `Host` is checked here.
   */
  isPassedOn?: (request: BrowserFacts) => boolean;
}

/** Parts of a request that the decision depends on; header names in lower case. */
export interface BrowserFacts {
  method?: string | undefined;
  url?: string | undefined;
  headers: Record<string, string | string[] | undefined>;
}

/** Returns the reason to reject the request, as a message for its sender; undefined when it may pass. */
export function rejectPage(request: BrowserFacts, policy: BrowserPolicy): string | undefined {
  const host = header(request, "host") ?? "";
  if (policy.keyless) {
    if (!isOwnName(host, policy)) {
      return (
        `This server requires no key, so it answers only under the names of this machine, not "${host}". Add the ` +
        "name to HEDDLE_ALLOWED_HOSTS, or set HEDDLE_AUTH=required."
      );
    }
    const forwarded = forwardedFromElsewhere(request, policy);
    if (forwarded !== undefined) {
      return (
        `This server requires no key because it is reachable only from this machine, but a proxy forwarded this request ` +
        `(${forwarded}). Set HEDDLE_AUTH=required and HEDDLE_TRUSTED_PROXIES.`
      );
    }
  }
  if (policy.isPassedOn?.(request)) return undefined;
  const page = foreignPage(request, host, policy.isFramed === true);
  if (page === undefined) return undefined;
  if (policy.isOpen?.(resolvedPath(request))) return undefined;
  if (page !== UNNAMED && policy.allows(page)) return undefined;
  const name = page === UNNAMED ? "another origin, which the browser withholds," : page;
  return (
    `Pages of ${name} may not call this server. Add the origin to HEDDLE_CORS_ORIGINS or to http.cors in ` +
    "langgraph.json."
  );
}

const UNNAMED = "null";

/** Returns the origin of the sending page; undefined for programs, our own pages, and top-level navigation. */
function foreignPage(request: BrowserFacts, host: string, isFramed: boolean): string | undefined {
  const origin = header(request, "origin");
  if (origin !== undefined) return isSameOrigin(origin, host) ? undefined : origin;
  const site = header(request, "sec-fetch-site");
  if (site !== "cross-site" && site !== "same-site") return undefined;
  // navigation shows the response to the user, not to a script of the linking page
  const target = header(request, "sec-fetch-dest");
  const opensPage =
    header(request, "sec-fetch-mode") === "navigate" && (target === "document" || (isFramed && target === "iframe"));
  if (opensPage && (request.method === "GET" || request.method === "HEAD")) return undefined;
  const referrer = header(request, "referer");
  return referrer !== undefined && URL.canParse(referrer) ? new URL(referrer).origin : UNNAMED;
}

function isSameOrigin(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase().replace(/:(80|443)$/, "");
}

/**
 * Whether a `Host` header names this machine. DNS cannot point localhost or an IP address elsewhere. A network address
 * is not a name of a server on loopback: such a request came through a forwarder (a tunnel, a published port).
 */
function isOwnName(host: string, { hosts, anyAddress }: Pick<BrowserPolicy, "hosts" | "anyAddress">): boolean {
  const name = host
    .replace(/:\d+$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  if (isIP(name) !== 0 && (anyAddress || isLoopbackAddress(normalizeAddress(name) ?? name))) return true;
  return isLoopbackName(name) || (name !== "" && hosts.has(name));
}

const isLoopbackName = (name: string): boolean => name === "localhost" || name.endsWith(".localhost");

/** Whether an origin is a page served by this machine. */
export function isLoopbackOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return (
    /^https?:$/.test(protocol) && (isLoopbackName(hostname) || isLoopbackAddress(hostname.replace(/^\[|\]$/g, "")))
  );
}

const isLoopbackAddress = (address: string): boolean =>
  isIP(address) !== 0 && (address.startsWith("127.") || address === "::1");

/** Headers in which proxies name the client. */
const CLIENT_HEADERS = [
  "x-forwarded-for",
  "x-real-ip",
  "forwarded",
  "cf-connecting-ip",
  "true-client-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-original-forwarded-for",
  "x-envoy-external-address",
  "fly-client-ip",
  "fastly-client-ip",
  "x-azure-clientip",
  "x-appengine-user-ip",
  "x-vercel-forwarded-for",
];

/**
 * Returns the header that names a client, or a host, on another machine. Proxies on this one (a dev server) name
 * loopback.
 */
function forwardedFromElsewhere(request: BrowserFacts, policy: BrowserPolicy): string | undefined {
  const shown = header(request, "x-forwarded-host");
  if (shown !== undefined && !shown.split(",").every((name) => isOwnName(name.trim(), policy))) {
    return `x-forwarded-host: ${shown}`;
  }
  for (const name of CLIENT_HEADERS) {
    const value = header(request, name);
    if (value === undefined) continue;
    const hops =
      name === "forwarded" ? [...value.matchAll(/\bfor\s*=\s*"?([^",;\s]+)/gi)].map((m) => m[1]!) : value.split(",");
    if (hops.length === 0 || !hops.every(isLoopbackHop)) return `${name}: ${value}`;
  }
  return undefined;
}

function isLoopbackHop(hop: string): boolean {
  const text = hop.trim();
  const bare = /^\[(.*)\](:\d+)?$/.exec(text)?.[1] ?? text.replace(/^([^:]+):\d+$/, "$1");
  const address = normalizeAddress(bare);
  return address !== undefined && isLoopbackAddress(address);
}

const header = ({ headers }: BrowserFacts, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
};

/** Returns the path as the application's router sees it. */
const resolvedPath = ({ url = "/" }: BrowserFacts): string =>
  URL.canParse(url, "http://host") ? new URL(url, "http://host").pathname : "";
